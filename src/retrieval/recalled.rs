//! What a look into a chat's past gives.

use crate::domain::StoredMessage;
use crate::retrieval::features::Features;

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledMessage {
    pub message: StoredMessage,
    /// What the forum topic is called that it stands in, where that is another than the question's.
    pub topic: Option<String>,
    pub score: f64,
    /// What the score is the weighted sum of.
    pub features: Features,
}
