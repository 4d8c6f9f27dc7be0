//! Access to messages older than the fetched ones, implemented by the caller.

use crate::context::open_question::OpenQuestion;
use crate::context::retrieval::query::OlderQuery;
use crate::context::retrieval::rerank::Reranked;
use crate::retrieval::Stretch;

/// Search in the past of a conversation.
pub trait Past {
    /// Returns messages older than the candidates that may be about the same as the focus, the likeliest first.
    fn older(&self, query: &OlderQuery) -> Vec<Reranked>;

    /// Returns stretches of any age that fit a question, best first.
    fn stretches(&self, question: &OpenQuestion) -> Vec<Stretch>;
}

impl Past for () {
    fn older(&self, _: &OlderQuery) -> Vec<Reranked> {
        Vec::new()
    }

    fn stretches(&self, _: &OpenQuestion) -> Vec<Stretch> {
        Vec::new()
    }
}
