//! Sessions, the parts of a conversation between long silences, and their summaries.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChatKey, ForumTopicId, MessageId, Seq, Timestamp};

/// Id of a session: the number of its first message. The source `s12` is the session that begins with message `m12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionId {
    pub chat: ChatKey,
    pub first: Seq,
}

impl SessionId {
    /// Returns a text that identifies the session among the sessions of all chats.
    pub fn key(self) -> String {
        format!("{}:{}", self.chat, self.first)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.first)
    }
}

/// Reason for closing a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// Nobody wrote for longer than `SESSION_IDLE`.
    Silence,
    /// It reached `SESSION_MAX_MESSAGES`.
    Size,
    /// It lasted for a day.
    Age,
    /// A member sent `/new`.
    New,
    /// The forum topic was closed.
    Topic,
    /// The bot was removed from the chat.
    Removed,
}

words!(CloseReason { Silence = "silence", Size = "size", Age = "age", New = "new", Topic = "topic", Removed = "removed" });

/// Detail of the service message that reports that a forum topic was closed.
pub const TOPIC_CLOSED: &str = "closed the topic";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub id: SessionId,
    pub forum_topic: Option<ForumTopicId>,
    /// Time and id of the first message.
    pub first: (Timestamp, MessageId),
    pub last: (Timestamp, MessageId),
    pub messages: u32,
    pub reason: CloseReason,
    pub closed_at: Timestamp,
    /// Hash of the content of its messages. If it changes, the session is summarized again.
    pub fingerprint: i64,
    /// `true` if the session was merged into the History summary.
    pub is_folded: bool,
}

/// Line of a summary, with the messages on which it is based. In the text, markers such as `{u7}` replace the names of
/// members.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bullet {
    pub kind: BulletKind,
    pub text: String,
    pub sources: Vec<Seq>,
}

impl Bullet {
    pub fn fact(text: impl Into<String>, sources: Vec<Seq>) -> Self {
        Self { kind: BulletKind::Fact, text: text.into(), sources }
    }
}

/// Kind of a bullet. Lists show them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BulletKind {
    Decision,
    Task,
    /// Question that nobody answered.
    Question,
    /// Says that a task is done or a question answered.
    Done,
    /// Also a bullet of a kind that this version does not know.
    #[default]
    #[serde(other)]
    Fact,
}

impl BulletKind {
    /// Returns the end of a line's head in a prompt, such as ` · task`; nothing for a fact.
    pub fn in_head(self) -> String {
        if self == Self::Fact { String::new() } else { format!(" · {}", self.as_str()) }
    }
}

/// State of a decision, a task or a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemState {
    #[default]
    Unknown,
    /// Not done, not answered, or not replaced by a later decision.
    Open,
    Closed,
}

impl ItemState {
    /// Returns a line of this state with its kind and state before it, such as `task, done: Ana buys rope`.
    pub fn labelled(self, bullet: &Bullet) -> String {
        let state = match (bullet.kind, self) {
            (BulletKind::Fact, _) => return bullet.text.clone(),
            (BulletKind::Decision, Self::Closed) => ", replaced later",
            (BulletKind::Task | BulletKind::Question, Self::Open) => ", open",
            (BulletKind::Task, Self::Closed) => ", done",
            (BulletKind::Question, Self::Closed) => ", answered",
            (BulletKind::Decision | BulletKind::Done, _) | (_, Self::Unknown) => "",
        };
        format!("{}{state}: {}", bullet.kind.as_str(), bullet.text)
    }
}

words!(BulletKind { Decision = "decision", Task = "task", Question = "question", Done = "done", Fact = "fact" });

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryMethod {
    Model,
    /// Important messages word for word, chosen without a model.
    Extract,
}

words!(SummaryMethod { Model = "model", Extract = "extract" });

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    pub bullets: Vec<Bullet>,
    pub tokens: usize,
    pub method: SummaryMethod,
    /// Name of the model that wrote the summary; empty if none did.
    pub model: String,
    pub built_at: Timestamp,
}

/// The two summaries of a whole chat, which are updated as sessions end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rolling {
    /// Covers sessions that ended in the last 28 days.
    Recent,
    /// Covers older sessions.
    History,
}

words!(Rolling { Recent = "recent", History = "history" });

/// Properties of a message that are needed to divide a conversation into sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionMessage {
    pub seq: Seq,
    pub at: Timestamp,
    pub id: MessageId,
    /// `true` if a person wrote it, even if its text is not stored.
    pub is_human: bool,
    /// Hash of everything that a summary of the message could depend on.
    pub content: u64,
}

/// End of a session for a reason other than silence, size or age. Messages after the point `after` belong to the next
/// session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCut {
    pub after: (Timestamp, MessageId),
    pub reason: CloseReason,
}

/// Text for members whose name is not known.
const SOMEBODY: &str = "somebody";

/// Replaces markers such as `{u7}` in a summary by the names of the members, or by "somebody" if the name is not known.
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
