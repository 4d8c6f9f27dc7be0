//! Results of recall: the old messages and sessions that fit a question.

use crate::retrieval::features::Features;
use chime_core::{Bullet, ItemState, RetrieverScores, SessionId, StoredMessage, Timestamp};

/// Messages and sessions of a chat's past that fit a question best.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// Messages, best first.
    pub messages: Vec<RecalledMessage>,
    /// Matching parts of session summaries, best first.
    pub sessions: Vec<RecalledSession>,
}

impl Recalled {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.sessions.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledMessage {
    pub message: StoredMessage,
    /// Name of the forum topic of the message; `None` if the question was asked in the same topic.
    pub topic: Option<String>,
    pub score: f64,
    /// Features of the message; `score` is their weighted sum.
    pub features: Features,
    /// Scores by the retrievers (ways of finding old messages) that proposed it.
    pub retrieved: RetrieverScores,
}

/// Part of a session's summary that matches the question.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledSession {
    pub id: SessionId,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub topic: Option<String>,
    /// Matching lines of the summary, in its order.
    pub bullets: Vec<RecalledBullet>,
    /// Messages that these lines are based on, oldest first.
    pub grounds: Vec<StoredMessage>,
    pub score: f64,
    pub retrieved: RetrieverScores,
}

/// Line of a summary with the current names of members.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledBullet {
    pub bullet: Bullet,
    pub state: ItemState,
}
