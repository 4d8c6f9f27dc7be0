//! Loads the proposed messages and their neighbours, which help to score them.

use std::collections::HashMap;

use crate::recall::request::ParsedRequest;
use crate::recall::retrievers::RecallCandidates;
use chime_core::MessageId;
use chime_core::embed::Embedder;
use chime_relevance::retrieval::Passage;
use chime_relevance::retrieval::passage::put_beside;
use chime_relevance::retrieval::proposals::ranges;
use chime_store::passages::{self, StoredPassage};

/// Maximum number of messages that are loaded. In the labelled chats, every right message was proposed at a higher
/// rank.
const READ: u32 = 400;

/// Proposed messages and their neighbours, ordered by message number.
pub struct LoadedCandidates {
    pub messages: Vec<StoredPassage>,
}

impl LoadedCandidates {
    pub fn read(
        reading: &ParsedRequest<'_>,
        candidates: &RecallCandidates,
        embedder: Option<&Embedder>,
    ) -> chime_store::Result<Self> {
        let (conn, chat) = (reading.conn, reading.request.conversation.chat);
        let with_vectors = reading.space.is_some() && reading.embedder.is_some();
        let mut messages = Vec::new();
        for (from, to) in ranges(candidates.proposals.iter().map(|one| one.seq), reading.request.before, READ) {
            messages.extend(passages::in_range(conn, with_vectors, chat, from, to)?);
        }
        if let Some(embedder) = embedder {
            for one in messages.iter_mut().filter(|one| one.vector.is_empty()) {
                let made = candidates.vectors.get(&one.seq);
                one.vector = made.map_or_else(|| embedder.embed(&one.text), Vec::clone);
            }
        }
        Ok(Self { messages })
    }

    /// Returns the messages in the form that the ranker reads.
    pub fn passages(&self) -> Vec<Passage<'_>> {
        let places: HashMap<MessageId, usize> =
            self.messages.iter().enumerate().map(|(place, stored)| (stored.id, place)).collect();
        let mut passages: Vec<Passage<'_>> = (self.messages.iter())
            .map(|stored| Passage {
                author: stored.author,
                sent_at: stored.sent_at,
                text: &stored.text,
                vector: &stored.vector,
                is_own: stored.is_own,
                before: None,
                after: None,
                replies_to: stored.reply_to.and_then(|id| places.get(&id).copied()),
            })
            .collect();
        put_beside(&mut passages, self.messages.iter().map(|stored| (stored.forum_topic, stored.seq)));
        passages
    }
}
