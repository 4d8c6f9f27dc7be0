//! What commands and notices say.

use std::time::Duration;

use crate::answer::wording::{self, UsedMessage};
use crate::domain::{AnswerRecord, Because, Timestamp, clock_time};
use crate::trigger::CommandName;

/// The commands as Telegram lists them when somebody types a slash.
pub const COMMANDS: [(&str, &str); 7] = [
    ("ask", "Ask about the conversation"),
    ("why", "Reply to an answer of mine: which messages it rests on"),
    ("privacy", "What I keep, for how long, and who sees it"),
    ("forget", "In a reply: forget that message. Or: me, me 1h, all"),
    ("optout", "Keep nothing of what I write"),
    ("optin", "Read along with me again"),
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
    /// Words of our own that were made elsewhere, as Markdown.
    Own(String),
    /// Triggers that were too old to answer.
    Backlog {
        count: usize,
    },
    /// A trigger was one too many.
    Refused {
        because: Because,
        /// How long until asking again makes sense.
        wait: Duration,
    },
    /// The last word on refused triggers where they cannot be told by reactions.
    Silent {
        until: Timestamp,
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
            Self::Own(markdown) => Some(markdown.clone()),
            Self::Backlog { count } => wording::backlog(*count),
            Self::Refused { because, wait } => Some(refused(*because, *wait)),
            Self::Silent { until } => {
                Some(format!("I leave further tags unanswered until {} UTC.", clock_time(*until)))
            }
        }
    }
}

/// Why there is no answer, and when to ask again.
fn refused(because: Because, wait: Duration) -> String {
    let why = match because {
        Because::Conversation => "This conversation has tagged me very often in a short time.",
        Because::Member => "You have tagged me very often in a short time.",
        Because::Flood => "That was faster than anybody can read my answers.",
        Because::DailyTokens => "I have used up what I may spend on answers today.",
        Because::DailyTokensOfChat => "This chat has used up what I may spend on it today.",
        Because::DailyTokensOfMember => "You have used up what I may spend on your questions today.",
    };
    match wait {
        Duration::ZERO => format!("{why} Please ask again."),
        wait => format!(
            "{why} Please ask again {}; until then, 👀 means that I saw your tag and let it pass.",
            wait_in_words(wait)
        ),
    }
}

/// Rounded up, so that nobody comes too early.
fn wait_in_words(wait: Duration) -> String {
    let secs = wait.as_millis().div_ceil(1000);
    match secs {
        0 | 1 => "in a second".to_owned(),
        2..60 => format!("in {secs} seconds"),
        60 => "in a minute".to_owned(),
        ..7200 => format!("in {} minutes", secs.div_ceil(60)),
        _ => format!("in {} hours", secs.div_ceil(3600)),
    }
}

/// What a command gets that nothing has to be looked up for. `/why` without an answer to be about is one.
pub fn for_command(command: CommandName, username: &str) -> Option<Notice> {
    match command {
        CommandName::Help | CommandName::Start => Some(Notice::Help { username: username.to_owned() }),
        CommandName::Why | CommandName::Ask => Some(Notice::WhyWhat),
        CommandName::Forget | CommandName::Optout | CommandName::Optin | CommandName::Privacy | CommandName::Claim => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(notices: &[Notice], expected: Expect) {
        let said: Vec<String> = notices.iter().map(|notice| notice.markdown().unwrap_or_default()).collect();
        expected.assert_eq(&said.join("\n"));
    }

    #[test]
    fn a_refusal_says_why_and_when_to_ask_again() {
        let refused = |because, millis| Notice::Refused { because, wait: Duration::from_millis(millis) };
        check(
            &[
                refused(Because::Conversation, 179_001),
                refused(Because::Member, 60_000),
                refused(Because::Flood, 5_200),
                refused(Because::DailyTokens, 8 * 3_600_000),
                refused(Because::DailyTokensOfChat, 7_199_000),
                refused(Because::DailyTokensOfMember, 0),
                Notice::Silent { until: Timestamp::from_secs(1_767_609_000) },
            ],
            expect![[r#"
                This conversation has tagged me very often in a short time. Please ask again in 3 minutes; until then, 👀 means that I saw your tag and let it pass.
                You have tagged me very often in a short time. Please ask again in a minute; until then, 👀 means that I saw your tag and let it pass.
                That was faster than anybody can read my answers. Please ask again in 6 seconds; until then, 👀 means that I saw your tag and let it pass.
                I have used up what I may spend on answers today. Please ask again in 8 hours; until then, 👀 means that I saw your tag and let it pass.
                This chat has used up what I may spend on it today. Please ask again in 120 minutes; until then, 👀 means that I saw your tag and let it pass.
                You have used up what I may spend on your questions today. Please ask again.
                I leave further tags unanswered until 10:30 UTC."#]],
        );
    }
}
