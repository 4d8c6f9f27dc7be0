//! Durable work.

use super::{ChatId, JobId, MessageId, Timestamp};

/// What a job does. A new kind is a new line here and an arm where `app.rs` runs jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Answer a trigger. Key: `<telegram chat>:<message>`.
    Answer,
    /// Answer a trigger again, about the other matter that it may mean. Key: `<telegram chat>:<message>`.
    Another,
    /// See to a press on a button. Key: the press's id at Telegram.
    Press,
    /// Reply to an in-chat command. Key: `<telegram chat>:<message>`.
    Command,
    /// Deliver the parts of one reply. Key: the reply's id.
    Send,
    /// Say once how many old triggers were left unanswered. Key: `<telegram chat>`.
    Backlog,
    /// Tell that a trigger was one too many. Key: `<telegram chat>:<message>`.
    Refusal,
    /// Say once how to be allowed, and leave. Key: `<telegram chat>`.
    Leave,
    /// Tell a chat what is kept of it. Key: `<telegram chat>`.
    Announce,
    /// Delete what somebody asked to have forgotten. Key: the row of the request.
    Forget,
    /// Delete what has been kept long enough. One job, which never ends.
    Retention,
}

impl JobKind {
    pub const ALL: [Self; 11] = [
        Self::Answer,
        Self::Another,
        Self::Press,
        Self::Command,
        Self::Send,
        Self::Backlog,
        Self::Refusal,
        Self::Leave,
        Self::Announce,
        Self::Forget,
        Self::Retention,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Another => "another",
            Self::Press => "press",
            Self::Command => "command",
            Self::Send => "send",
            Self::Backlog => "backlog",
            Self::Refusal => "refusal",
            Self::Leave => "leave",
            Self::Announce => "announce",
            Self::Forget => "forget",
            Self::Retention => "retention",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == raw)
    }
}

/// The key of a job about one message: `<telegram chat>:<message>`.
pub fn message_key(chat: ChatId, message: MessageId) -> String {
    format!("{chat}:{message}")
}

/// Reads a [`message_key`].
pub fn parse_message_key(key: &str) -> Option<(ChatId, MessageId)> {
    let (chat, message) = key.split_once(':')?;
    Some((ChatId(chat.parse().ok()?), MessageId(message.parse().ok()?)))
}

/// A job that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub kind: JobKind,
    pub key: String,
    /// Jobs of one lane share their places in the pool: the telegram chat they work for.
    pub lane: i64,
    pub due_at: Timestamp,
    /// Attempts that began before this one.
    pub attempts: u32,
}
