//! Recall requests, and the parsed form that the retrievers and the rankers read.

use chime_core::embed::Embedder;
use chime_core::{Conversation, Language, Seq, Timestamp, UserId, Zone};
use chime_relevance::retrieval::ParsedQuestion;
use chime_store::Reader;
use chime_store::vector_tables::Space;

/// Minimum share of the question's words that a message and its context must contain. Found by `cargo bench --bench fit
/// -- --recall`: of the values compared, it best separates right messages from those found in chats without an answer.
pub const MIN_COVERAGE: f64 = 0.35;

/// Question about a chat's past.
#[derive(Debug, Clone, Copy)]
pub struct RecallRequest<'a> {
    pub conversation: Conversation,
    pub text: &'a str,
    pub now: Timestamp,
    /// Time zone of the conversation.
    pub zone: Zone,
    pub by: UserId,
    /// Number of the trigger: only messages with a lower one are recalled.
    pub before: Seq,
}

/// Parsed question, with everything that the retrievers and rankers need.
pub struct ParsedRequest<'a> {
    pub conn: &'a Reader,
    pub request: &'a RecallRequest<'a>,
    pub question: ParsedQuestion,
    pub language: Language,
    pub people: Vec<(UserId, String)>,
    pub space: Option<Space>,
    /// Vector of the question in `space`, packed as in the store; empty if there is none.
    pub vector: Vec<u8>,
    /// Local model, if it made the vectors of `space` or if there is no space; else `None`.
    pub embedder: Option<&'a Embedder>,
}
