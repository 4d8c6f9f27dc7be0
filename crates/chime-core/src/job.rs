//! Jobs, which are stored in the database until they are done. Each kind has its own payload and policy.

mod kinds;
mod policy;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ChatId, JobId, MessageId, StoredMessage, Timestamp};

pub use kinds::{JobKind, JobPayload};
pub use policy::{Class, Policy};

/// Delay from the last trigger that arrives too late until the chat is told how many were not answered, so that one
/// message reports all of them.
pub const BACKLOG_SETTLES: Duration = Duration::from_secs(3);

/// Time after which a question to the chat counts as unanswered.
pub const UNANSWERED_AFTER: Duration = Duration::from_hours(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: JobId,
    pub payload: JobPayload,
    pub due_at: Timestamp,
    /// Number of attempts before this one.
    pub attempts: u32,
}

impl Job {
    pub fn kind(&self) -> JobKind {
        self.payload.kind()
    }

    pub fn key(&self) -> String {
        self.payload.key()
    }

    /// Returns the lane: Telegram's id of the job's chat, or 0. The number of jobs that run at once is limited for each
    /// lane.
    pub fn lane(&self) -> i64 {
        self.payload.lane()
    }
}

/// Formats the job like `answer job -100:7`, for logs and errors.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} job {}", self.kind().as_str(), self.key())
    }
}

/// Message identified by Telegram's ids, displayed as `<chat>:<message>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct MessageAt {
    pub chat: ChatId,
    pub message: MessageId,
}

impl MessageAt {
    pub fn of(stored: &StoredMessage) -> Self {
        Self { chat: stored.message.chat, message: stored.message.id }
    }
}

impl fmt::Display for MessageAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chat, self.message)
    }
}

/// Way in which a message addresses the bot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressedBy {
    #[default]
    Mention,
    Reply,
    Command,
    Private,
}

/// Result of parsing a trigger. It holds no text: the question is the text of the message without the ranges in `cut`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParsedTrigger {
    pub how: AddressedBy,
    /// `true` if the question is empty or only refers to other messages ("thoughts?").
    pub is_generic: bool,
    /// Byte ranges, in the text of the message, of the bot's names and of the command, which are no part of the
    /// question.
    pub cut: Vec<Range<usize>>,
}

impl JobPayload {
    /// Returns the key of the reply that this job sends, such as `answer:<chat>:<message>`.
    pub fn reply_key(&self) -> String {
        format!("{}:{}", self.kind().as_str(), self.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_is_read_back_as_it_was_written() {
        let at = MessageAt { chat: ChatId(-100), message: MessageId(7) };
        let parsed = ParsedTrigger { how: AddressedBy::Reply, is_generic: true, cut: vec![0..4, 9..12] };
        let answer = JobPayload::Answer { at, parsed };
        let send =
            JobPayload::Send { reply: answer.reply_key(), chat: at.chat, made_by: Some(Box::new(answer.clone())) };
        let written = serde_json::to_string(&send).unwrap();
        assert_eq!(
            written,
            r#"{"send":{"reply":"answer:-100:7","chat":-100,"made_by":{"answer":{"at":{"chat":-100,"message":7},"parsed":{"how":"reply","is_generic":true,"cut":[{"start":0,"end":4},{"start":9,"end":12}]}}}}}"#
        );
        assert_eq!(serde_json::from_str::<JobPayload>(&written).unwrap(), send);
        assert_eq!((answer.key().as_str(), answer.lane(), answer.kind()), ("-100:7", -100, JobKind::Answer));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for kind in JobKind::ALL {
            assert_eq!(JobKind::parse(kind.as_str()), Some(kind));
        }
    }
}
