//! Named things that a chat talks about, and the concepts in scope of a conversation.

use serde::{Deserialize, Serialize};

use super::ConceptId;

/// Named thing, as last captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concept {
    pub id: ConceptId,
    pub label: String,
    pub alt_labels: Vec<String>,
    /// Definition in one line.
    pub definition: String,
    pub kind: Option<String>,
}

/// Concept extracted from an answer, before it has an id.
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

/// Concepts in scope of a conversation. An empty context is not stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationContext {
    /// Ids in order of their latest reference, the most recent last.
    #[serde(rename = "activeNodeIds", default)]
    pub active: Vec<ConceptId>,
}
