//! Notices and replies to commands.

use chime_answer::why::{UsedMessage, WhyExtras, WhyReader, why};
use chime_answer::wording;
use chime_core::texts::Texts;
use chime_core::{AnswerRecord, ChatKey, CommandName, Seq};

/// Content of a reply, before it is turned into text.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    Help {
        username: String,
        is_private: bool,
        texts: &'static Texts,
    },
    Why {
        record: Box<AnswerRecord>,
        used: Vec<UsedMessage>,
        extras: WhyExtras,
        to: WhyReader,
        /// Messages that the answer used. When one is forgotten, the text of this reply is deleted too.
        rests_on: Vec<Seq>,
    },
    /// Concepts of the chat, as Markdown that contains members' words.
    Concepts {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// Notes of the chat, as Markdown that contains members' words.
    Notes {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// Stored memory of a chat, as Markdown that contains members' words.
    Memory {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
        /// Links to messages in the text.
        links: Vec<String>,
    },
    /// `/why` without an answer to explain.
    WhyWhat(&'static Texts),
    /// Markdown text composed by the caller, without members' words.
    Own(String),
}

impl Notice {
    /// Returns the reply as Markdown.
    pub fn markdown(&self) -> Option<String> {
        match self {
            Self::Help { username, is_private, texts } => Some(wording::help(username, *is_private, texts)),
            Self::Why { record, used, extras, to, .. } => Some(why(record, used, extras, *to)),
            Self::WhyWhat(texts) => Some(texts.why_what.clone()),
            Self::Concepts { markdown, .. } | Self::Notes { markdown, .. } | Self::Memory { markdown, .. } => {
                Some(markdown.clone())
            }
            Self::Own(markdown) => Some(markdown.clone()),
        }
    }
}

/// Returns the reply to a command that needs no look-up. `/why` without an answer is one.
pub fn for_command(command: CommandName, username: &str, is_private: bool, texts: &'static Texts) -> Option<Notice> {
    match command {
        CommandName::Help | CommandName::Start => {
            Some(Notice::Help { username: username.to_owned(), is_private, texts })
        }
        CommandName::Why | CommandName::Ask => Some(Notice::WhyWhat(texts)),
        // `Commands::handle` handles all other commands.
        _ => None,
    }
}
