//! Sessions of a conversation, and the summaries that memory keeps of them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChatKey, MessageId, Seq, ThreadId, Timestamp};

/// A session is named by its first message: the source `s12` is the session that begins with `m12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId {
    pub chat: ChatKey,
    pub first: Seq,
}

impl SessionId {
    /// Unique among the sessions of all chats.
    pub fn key(self) -> String {
        format!("{}:{}", self.chat, self.first)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.first)
    }
}

/// What closed a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Closed {
    /// Nobody wrote for longer than `SESSION_IDLE`.
    Silence,
    /// It reached `SESSION_MAX_MESSAGES`.
    Size,
    /// It went on for a day.
    Age,
    /// A member sent `/new`.
    New,
    /// The forum topic was closed.
    Topic,
    /// The bot was removed from the chat.
    Removed,
}

impl Closed {
    const ALL: [Self; 6] = [Self::Silence, Self::Size, Self::Age, Self::New, Self::Topic, Self::Removed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Silence => "silence",
            Self::Size => "size",
            Self::Age => "age",
            Self::New => "new",
            Self::Topic => "topic",
            Self::Removed => "removed",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == raw)
    }
}

/// What the service message says by which a forum topic is closed.
pub const TOPIC_CLOSED: &str = "closed the topic";

/// A closed session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub thread: Option<ThreadId>,
    /// First and last message, in the order of the conversation.
    pub first: (Timestamp, MessageId),
    pub last: (Timestamp, MessageId),
    pub messages: u32,
    pub reason: Closed,
    pub closed_at: Timestamp,
    /// Of the content of its messages: another content is another fingerprint.
    pub fingerprint: i64,
    /// Whether History rests on it.
    pub is_folded: bool,
}

/// One line of a summary with the messages that it rests on. Members stand in the text as `{u7}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bullet {
    pub text: String,
    pub sources: Vec<Seq>,
}

/// How a summary was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryMethod {
    Model,
    /// Messages word for word, chosen without a model.
    Extract,
}

impl SummaryMethod {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Extract => "extract",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        [Self::Model, Self::Extract].into_iter().find(|method| method.as_str() == raw)
    }
}

/// A summary as kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub bullets: Vec<Bullet>,
    pub tokens: usize,
    pub method: SummaryMethod,
    /// The model that wrote it; empty where none did.
    pub model: String,
    pub built_at: Timestamp,
}

/// The summaries of a chat that roll along with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rolling {
    /// Sessions that ended in the last 28 days.
    Recent,
    /// Sessions that ended before that.
    History,
}

impl Rolling {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::History => "history",
        }
    }
}

/// What dividing a conversation into sessions needs to know of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionMessage {
    pub seq: Seq,
    pub at: Timestamp,
    pub id: MessageId,
    /// Written by a person, even where the words may not be read.
    pub is_human: bool,
    /// Of everything that a summary of it could depend on.
    pub content: u64,
}

/// Something that ends a session beside silence, size and age: its last message is at or before this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCut {
    pub after: (Timestamp, MessageId),
    pub reason: Closed,
}

/// Who is not known any more.
const SOMEBODY: &str = "somebody";

/// The text of a summary with names in place of markers. Who has no name there any more is somebody.
pub fn named(text: &str, names: &BTreeMap<u32, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("{u") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let digits = from[2..].bytes().take_while(u8::is_ascii_digit).count();
        let is_marker = (1..=9).contains(&digits) && from[2 + digits..].starts_with('}');
        let end = if is_marker { 2 + digits + 1 } else { 2 };
        let number = is_marker.then(|| from[2..2 + digits].parse::<u32>().ok()).flatten();
        match number {
            Some(number) => out.push_str(names.get(&number).map_or(SOMEBODY, String::as_str)),
            None => out.push_str(&from[..end]),
        }
        rest = &from[end..];
    }
    out.push_str(rest);
    out
}
