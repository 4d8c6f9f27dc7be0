//! Concepts: named things that a chat talks about, each with a definition.

use serde::{Deserialize, Serialize};

use super::ConceptId;

/// Named thing that a chat talks about, with the definition from its newest extraction.
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

/// Concepts that a conversation referred to recently. Not stored if it is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationContext {
    /// Ids in order of their latest reference, the most recent last.
    #[serde(rename = "activeNodeIds", default)]
    pub active: Vec<ConceptId>,
}
