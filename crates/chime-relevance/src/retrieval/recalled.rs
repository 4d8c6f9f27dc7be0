//! The results of recall: messages and sessions with their scores.

use crate::retrieval::features::Features;
use chime_core::{Bullet, LegScores, SessionId, StoredMessage, Timestamp};

/// The best of a chat's past for a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// Best first.
    pub messages: Vec<RecalledMessage>,
    /// What the summaries of the best sessions say of it, best first.
    pub sessions: Vec<RecalledSession>,
}

impl Recalled {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.sessions.is_empty()
    }
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledMessage {
    pub message: StoredMessage,
    /// What the forum topic is called that it stands in, where that is another than the question's.
    pub topic: Option<String>,
    pub score: f64,
    /// What the score is the weighted sum of.
    pub features: Features,
    /// Who proposed it.
    pub legs: LegScores,
}

/// The part of a session's summary that bears on the question.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledSession {
    pub id: SessionId,
    pub started_at: Timestamp,
    pub topic: Option<String>,
    /// With the present names of members, in the order of the summary.
    pub bullets: Vec<Bullet>,
    /// Messages that these bullets rest on, oldest first.
    pub grounds: Vec<StoredMessage>,
    pub score: f64,
    pub legs: LegScores,
}
