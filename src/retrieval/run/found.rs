//! Reading what the legs proposed, with what stands around it.

use std::collections::{BTreeMap, HashMap};

use crate::domain::{MessageId, Role, Seq, StoredMessage};
use crate::embed::Embedder;
use crate::retrieval::run::Reading;
use crate::retrieval::run::legs::Candidates;
use crate::retrieval::{Passage, SESSION_SILENCE};
use crate::store::{self, messages, vectors};

/// Of each list, the best whose neighbours are read too, and how far on either side.
const WITH_NEIGHBORS: usize = 20;
const AROUND: u32 = 5;

/// The proposed messages and their neighbours, in the order of their numbers.
pub struct Found {
    pub messages: Vec<StoredMessage>,
    vectors: Vec<Vec<f32>>,
}

impl Found {
    pub fn read(reading: &Reading<'_>, candidates: &Candidates, embedder: Option<&Embedder>) -> store::Result<Self> {
        let (conn, chat) = (reading.conn, reading.request.conversation.chat);
        // Kept vectors are of use where the model at hand made them: spaces are never mixed.
        let space = reading.space.as_ref().filter(|space| embedder.is_some_and(|it| it.name() == space.model));
        let (mut found, mut kept) = (Vec::new(), HashMap::new());
        for range in ranges(candidates, reading.request.before) {
            found.extend(messages::in_range(conn, chat, range)?);
            if let Some(space) = space {
                kept.extend(vectors::in_range(conn, space.id, chat, range)?);
            }
        }
        let vector = |stored: &StoredMessage| match (kept.remove(&stored.seq), embedder) {
            (Some(vector), _) => vector,
            (None, Some(embedder)) => embedder.embed(&stored.message.text),
            (None, None) => Vec::new(),
        };
        let vectors = found.iter().map(vector).collect();
        Ok(Self { messages: found, vectors })
    }

    /// Each message beside the one before it and the one after it in its thread, where there is no long silence between.
    pub fn passages(&self) -> Vec<Passage<'_>> {
        let places: HashMap<MessageId, usize> =
            self.messages.iter().enumerate().map(|(place, stored)| (stored.message.id, place)).collect();
        let mut passages: Vec<Passage<'_>> = (self.messages.iter().zip(&self.vectors))
            .map(|(stored, vector)| Passage {
                author: stored.message.sender.id,
                sent_at: stored.message.sent_at,
                text: &stored.message.text,
                vector,
                is_own: stored.message.role == Role::Assistant,
                before: None,
                after: None,
                replies_to: stored.message.reply_to.and_then(|id| places.get(&id).copied()),
            })
            .collect();
        let mut last_of: BTreeMap<_, usize> = BTreeMap::new();
        for (place, stored) in self.messages.iter().enumerate() {
            let Some(before) = last_of.insert(stored.message.thread, place) else { continue };
            let is_near = stored.seq.0 - self.messages[before].seq.0 <= AROUND;
            let silence = stored.message.sent_at.since(self.messages[before].message.sent_at);
            if is_near && silence <= SESSION_SILENCE {
                passages[place].before = Some(before);
                passages[before].after = Some(place);
            }
        }
        passages
    }
}

/// Numbers of what is read, as ranges that do not touch.
fn ranges(candidates: &Candidates, before: Seq) -> Vec<(Seq, Seq)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for list in &candidates.lists {
        for (rank, seq) in list.iter().filter(|seq| **seq < before).enumerate() {
            let reach = if rank < WITH_NEIGHBORS { AROUND } else { 0 };
            ranges.push((seq.0.saturating_sub(reach), seq.0.saturating_add(reach)));
        }
    }
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::new();
    for (from, to) in ranges {
        match merged.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged.into_iter().map(|(from, to)| (Seq(from), Seq(to))).collect()
}
