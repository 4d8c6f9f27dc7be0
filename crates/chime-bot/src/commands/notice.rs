//! Replies to commands, and notices.

use chime_answer::why::{UsedMessage, WhyExtras, WhyReader, why};
use chime_answer::wording;
use chime_core::texts::Texts;
use chime_core::{AnswerRecord, ChatKey, CommandName, Seq};

/// Content of a reply or notice, which [`Self::markdown`] turns into text.
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
        /// Messages that the answer used. When one of them is forgotten, the text of this reply is deleted too.
        rests_on: Vec<Seq>,
    },
    /// Concepts of the chat, as Markdown that contains words of members.
    Concepts {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// Notes of the chat, as Markdown that contains words of members.
    Notes {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
    },
    /// Memory of a chat, as Markdown that contains words of members.
    Memory {
        markdown: String,
        chat: ChatKey,
        rests_on: Vec<Seq>,
        /// Links in the text, which lead to messages.
        links: Vec<String>,
    },
    /// Reply to `/why` if it does not refer to an answer.
    WhyWhat(&'static Texts),
    /// Markdown that the caller has composed, without words of members.
    Own(String),
}

impl Notice {
    /// Returns the content as Markdown, or `None` if there is nothing to reply.
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

/// Returns the reply to a command that needs no data of the chat. One of them is `/why` without an answer. Returns
/// `None` for other commands.
pub fn for_command(command: CommandName, username: &str, is_private: bool, texts: &'static Texts) -> Option<Notice> {
    match command {
        CommandName::Help | CommandName::Start => {
            Some(Notice::Help { username: username.to_owned(), is_private, texts })
        }
        CommandName::Why | CommandName::Ask => Some(Notice::WhyWhat(texts)),
        // All other commands have a handler of their own.
        _ => None,
    }
}
