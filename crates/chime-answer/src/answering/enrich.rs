//! Sources of prompt pieces outside this crate, such as memory. If one fails, the answer is made without it.

use std::sync::Arc;

use chime_core::{ChatKey, Conversation, Enrichment, Piece, Timestamp, Zone};
use chime_store::Reader;

/// Question for which an enricher finds prompt pieces.
#[derive(Debug, Clone)]
pub struct EnricherInput {
    pub chat: ChatKey,
    pub conversation: Conversation,
    /// Text of the question without the mention.
    pub ask: String,
    pub now: Timestamp,
    /// Time zone of the conversation.
    pub zone: Zone,
}

type Gather = dyn Fn(&Reader, &EnricherInput) -> chime_store::Result<Vec<Piece>> + Send + Sync;

/// Named source of prompt pieces for one answer.
#[derive(Clone)]
pub struct Enricher {
    name: &'static str,
    gather: Arc<Gather>,
}

impl Enricher {
    pub fn new<F>(name: &'static str, gather: F) -> Self
    where
        F: Fn(&Reader, &EnricherInput) -> chime_store::Result<Vec<Piece>> + Send + Sync + 'static,
    {
        Self { name, gather: Arc::new(gather) }
    }
}

/// Returns the pieces of all enrichers. If one fails, its error is logged and its pieces are missing.
pub fn enrich(conn: &Reader, enrichers: &[Enricher], input: &EnricherInput) -> Enrichment {
    let mut enrichment = Enrichment::default();
    for Enricher { name, gather } in enrichers {
        match gather(conn, input) {
            Ok(pieces) => enrichment.pieces.extend(pieces),
            Err(error) => tracing::warn!(%error, "answering without what `{name}` knows"),
        }
    }
    enrichment
}
