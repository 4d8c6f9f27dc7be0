//! Recall requests, and the parsed form that the retrievers and the rankers read.

use std::sync::Mutex;

use chime_core::embed::Embedder;
use chime_core::{Conversation, Language, Seq, Timestamp, UserId};
use chime_relevance::retrieval::ParsedQuestion;
use chime_store::Reader;
use chime_store::vector_codes::VectorCodes;
use chime_store::vector_tables::Space;

/// Minimum share of the question that a message and its context must cover. Of the values compared by
/// `cargo bench --bench fit -- --recall`, this one best separates right messages from messages in chats without
/// an answer.
pub const MIN_COVERAGE: f64 = 0.35;

/// Query of a chat's past.
#[derive(Debug, Clone, Copy)]
pub struct RecallRequest<'a> {
    pub conversation: Conversation,
    pub text: &'a str,
    pub now: Timestamp,
    /// Offset of the chat's time zone from UTC, in seconds.
    pub utc_offset: i32,
    pub by: UserId,
    /// The trigger: only earlier messages are recalled.
    pub before: Seq,
}

/// Parsed question with everything needed for ranking.
pub struct ParsedRequest<'a> {
    pub conn: &'a Reader,
    pub request: &'a RecallRequest<'a>,
    pub question: ParsedQuestion,
    pub language: Language,
    pub people: Vec<(UserId, String)>,
    pub space: Option<Space>,
    /// Packed embedding of the question in `space`; empty if there is none.
    pub vector: Vec<u8>,
    /// Local model, if it belongs to `space` or there is no space.
    pub embedder: Option<&'a Embedder>,
    pub codes: &'a Mutex<VectorCodes>,
}
