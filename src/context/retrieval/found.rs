//! What looking further back came to.

use crate::context::retrieval::rerank::Judged;
use crate::domain::StoredMessage;

/// A message from further back, taken with what it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Bridged {
    pub message: StoredMessage,
    /// How likely what it came with is about the same, 0 to 1.
    pub probability: f64,
}

/// What looking further back came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    pub bridged: Vec<Bridged>,
    /// What may be about it, and is not sure enough to be taken.
    pub nearby: Vec<Bridged>,
    /// All that was compared, the likeliest first, for whoever wants to know why.
    pub judged: Vec<Judged>,
}
