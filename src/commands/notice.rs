//! What commands and notices say.

use crate::answer::wording::{self, UsedMessage};
use crate::domain::AnswerRecord;
use crate::trigger::CommandName;

/// The commands as Telegram lists them when somebody types a slash.
pub const COMMANDS: [(&str, &str); 3] = [
    ("ask", "Ask about the conversation"),
    ("why", "Reply to an answer of mine: which messages it rests on"),
    ("help", "What I do and how to tag me"),
];

/// What there is to say, before it becomes words.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    Help {
        username: String,
    },
    Why {
        record: Box<AnswerRecord>,
        used: Vec<UsedMessage>,
    },
    /// `/why` without an answer to explain.
    WhyWhat,
    /// Triggers that were too old to answer.
    Backlog {
        count: usize,
    },
}

impl Notice {
    /// Markdown; none where there is nothing to say.
    pub fn markdown(&self) -> Option<String> {
        match self {
            Self::Help { username } => Some(wording::help(username)),
            Self::Why { record, used } => Some(wording::why(record, used)),
            Self::WhyWhat => {
                Some("Send /why as a reply to one of my answers, and I show which messages it rests on.".to_owned())
            }
            Self::Backlog { count } => wording::backlog(*count),
        }
    }
}

/// Which notice a command asks for, before anything is looked up. `/why` needs an answer to be about.
pub fn for_command(command: CommandName, username: &str) -> Notice {
    match command {
        CommandName::Help | CommandName::Start => Notice::Help { username: username.to_owned() },
        CommandName::Why | CommandName::Ask => Notice::WhyWhat,
    }
}
