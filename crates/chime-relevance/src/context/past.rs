//! Interface for finding messages older than the fetched ones; the caller implements it.

use crate::context::older_messages::query::OlderQuery;
use crate::context::older_messages::rerank::Reranked;
use crate::context::open_question::OpenQuestion;
use crate::retrieval::Stretch;

/// Search in the past of a conversation. The implementation for `()` finds nothing.
pub trait Past {
    /// Returns messages older than the candidates that may share the subject of the focus, the likeliest first.
    fn older(&self, query: &OlderQuery) -> Vec<Reranked>;

    /// Returns stretches (runs of neighbouring messages) from any time that fit a question, best first; `None` if
    /// nothing could be searched.
    fn stretches(&self, question: &OpenQuestion) -> Option<Vec<Stretch>>;
}

impl Past for () {
    fn older(&self, _: &OlderQuery) -> Vec<Reranked> {
        Vec::new()
    }

    fn stretches(&self, _: &OpenQuestion) -> Option<Vec<Stretch>> {
        Some(Vec::new())
    }
}
