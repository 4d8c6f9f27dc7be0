//! What commands and notices say.

use chime_answer::why::{Extras, Reader, UsedMessage, why};
use chime_answer::wording;
use chime_core::texts::Texts;
use chime_core::{AnswerRecord, ChatKey, CommandName, Seq};

/// What there is to say, before it becomes words.
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
        extras: Extras,
        to: Reader,
        /// The messages that the answer rests on: what is told goes with them.
        rests_on: Vec<Seq>,
    },
    /// What the chat knows, as Markdown with words of members in it.
    Concepts {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// The notes of the chat, as Markdown with words of members in it.
    Notes {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// What is remembered of a chat, as Markdown with words of members in it.
    Memory {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
        /// The messages that it links to.
        links: Vec<String>,
    },
    /// `/why` without an answer to explain.
    WhyWhat(&'static Texts),
    /// Words of our own that were made elsewhere, as Markdown.
    Own(String),
}

impl Notice {
    /// Markdown; none where there is nothing to say.
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

/// What a command gets that nothing has to be looked up for. `/why` without an answer to be about is one.
pub fn for_command(command: CommandName, username: &str, is_private: bool, texts: &'static Texts) -> Option<Notice> {
    match command {
        CommandName::Help | CommandName::Start => {
            Some(Notice::Help { username: username.to_owned(), is_private, texts })
        }
        CommandName::Why | CommandName::Ask => Some(Notice::WhyWhat(texts)),
        // `Commands::obey` names every other one.
        _ => None,
    }
}
