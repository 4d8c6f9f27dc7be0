//! The results of recall: messages and sessions with their scores.

use crate::retrieval::features::Features;
use chime_core::{Bullet, LegScores, SessionId, StoredMessage, Timestamp};

/// Best messages and sessions of a chat's past for a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recalled {
    /// Best first.
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
    /// Name of the message's forum topic, if it is not the question's.
    pub topic: Option<String>,
    pub score: f64,
    /// Features that the score is the weighted sum of.
    pub features: Features,
    /// Scores of the retrievers that proposed it.
    pub legs: LegScores,
}

/// The part of a session's summary that matches the question.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledSession {
    pub id: SessionId,
    pub started_at: Timestamp,
    pub topic: Option<String>,
    /// With the current names of members, in the order of the summary.
    pub bullets: Vec<Bullet>,
    /// Messages that the bullets are based on, oldest first.
    pub grounds: Vec<StoredMessage>,
    pub score: f64,
    pub legs: LegScores,
}
