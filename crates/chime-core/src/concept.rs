//! Named things that a chat talks about, and which of them a conversation has in scope.

use serde::{Deserialize, Serialize};

use super::ConceptId;

/// A named thing, as its newest capture has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    pub id: ConceptId,
    pub label: String,
    pub alt_labels: Vec<String>,
    /// One line.
    pub definition: String,
    pub kind: Option<String>,
}

/// A concept as an answer gave it, before it has an id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    #[serde(rename = "preferred_label")]
    pub label: String,
    #[serde(default, rename = "alternative_labels")]
    pub alt_labels: Vec<String>,
    #[serde(default)]
    pub definition: String,
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
}

/// What is in play in a conversation. Nothing is stored as an empty one, and a missing one is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationContext {
    /// The latest referenced last.
    #[serde(rename = "activeNodeIds", default)]
    pub active: Vec<ConceptId>,
}
