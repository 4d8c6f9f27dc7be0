//! Packs: chats with queries and their right answers ("gold").
//!
//! A query's input and its gold have different types, so a selector cannot read the gold.

use std::collections::HashMap;

use serde::Deserialize;

/// Variant of questions about the whole chat.
pub const QUESTION: &str = "qa";

/// Pack as read from its folder.
#[derive(Debug, Clone)]
pub struct Pack {
    pub name: String,
    /// Messages of each chat, oldest first.
    pub chats: HashMap<String, Vec<PackMessage>>,
    pub queries: Vec<PackQuery>,
    /// `true` if messages before a trigger's window are candidates too.
    pub reaches_back: bool,
    pub questions: Vec<PackQuestion>,
    /// Gold conversation of each message, by chat and message.
    pub conversations: HashMap<(String, i64), String>,
}

/// Question about the whole chat, with its gold.
#[derive(Debug, Clone, PartialEq)]
pub struct PackQuestion {
    pub ask: QuestionAsk,
    pub gold: QuestionGold,
}

/// Part of a question that a retriever sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionAsk {
    pub query_id: String,
    pub chat_id: String,
    pub question: String,
    /// Unix seconds.
    pub date: i64,
}

/// Right answers to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionGold {
    pub context: Vec<i64>,
    pub sessions: Vec<String>,
    pub category: u32,
}

/// Message as a selector sees it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PackMessage {
    pub chat_id: String,
    pub message_id: i64,
    /// Unix seconds.
    pub date: i64,
    pub from_id: i64,
    pub from_name: String,
    #[serde(default)]
    pub username: Option<String>,
    #[serde(default)]
    pub is_bot: bool,
    pub text: String,
    /// Reply link, visible in variants with links.
    #[serde(default)]
    pub reply_to: Option<i64>,
}

/// Query with its gold.
#[derive(Debug, Clone, PartialEq)]
pub struct PackQuery {
    pub ask: QueryAsk,
    pub gold: QueryGold,
}

/// Part of a query that a selector sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryAsk {
    pub query_id: String,
    pub variant: String,
    pub chat_id: String,
    pub message_id: i64,
    /// Parent of the trigger, if visible.
    pub reply_to: Option<i64>,
    /// Ids of the first and last candidate.
    pub window: (i64, i64),
    /// Trigger, if it is no message of the chat; it follows directly after the last candidate.
    pub trigger: Option<PackMessage>,
}

/// Right answers to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryGold {
    /// Messages that an answer needs.
    pub context: Vec<i64>,
    /// Relevant messages from before the window.
    pub far: Vec<i64>,
    /// Other messages on the subject, which a focus may contain but does not need.
    pub related: Vec<i64>,
    pub slice: Slice,
}

/// Properties of the messages that a query needs, by which reports group the results.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Slice {
    #[serde(default)]
    pub nearest_dist: i64,
    #[serde(default)]
    pub nearest_gap_s: f64,
    #[serde(default)]
    pub beyond20: bool,
    #[serde(default)]
    pub beyond60min: bool,
    #[serde(default)]
    pub day_span: bool,
    #[serde(default)]
    pub bridge: bool,
    #[serde(default)]
    pub kind: Option<String>,
}
