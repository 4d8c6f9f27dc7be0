//! Reading what was proposed, with what stands around it.

use std::collections::{BTreeMap, HashMap};

use crate::domain::{MessageId, Seq};
use crate::embed::Embedder;
use crate::retrieval::run::Reading;
use crate::retrieval::run::legs::Candidates;
use crate::retrieval::{Passage, SESSION_SILENCE};
use crate::store;
use crate::store::passages::{self, StoredPassage};

/// Messages on either side of a proposal that are read with it.
const AROUND: u32 = 5;
/// Messages that are read at most: what ranks behind them has not come to the top in any labelled chat.
const READ: u32 = 220;
/// Of the best proposals all that bears on them is read; of the others what stands next to them.
const BEST: usize = 12;
const NEXT: u32 = 2;

/// The proposed messages and their neighbours, in the order of their numbers.
pub struct Found {
    pub messages: Vec<StoredPassage>,
}

impl Found {
    pub fn read(reading: &Reading<'_>, candidates: &Candidates, embedder: Option<&Embedder>) -> store::Result<Self> {
        let (conn, chat) = (reading.conn, reading.request.conversation.chat);
        let space = reading.space.as_ref().filter(|_| reading.embedder.is_some());
        let mut messages = Vec::new();
        for range in ranges(candidates.proposals.iter().map(|one| one.seq), reading.request.before) {
            messages.extend(passages::in_range(conn, space.map(|space| space.id), chat, range)?);
        }
        if let Some(embedder) = embedder {
            for one in messages.iter_mut().filter(|one| one.vector.is_empty()) {
                let made = candidates.vectors.get(&one.seq).map(Vec::as_slice);
                let known = made.or_else(|| reading.request.vector(one.seq));
                one.vector = known.map_or_else(|| embedder.embed(&one.text), <[f32]>::to_vec);
            }
        }
        Ok(Self { messages })
    }

    /// Each message beside the one before it and the one after it in its thread, where there is no long silence between.
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
        let mut last_of: BTreeMap<_, usize> = BTreeMap::new();
        for (place, stored) in self.messages.iter().enumerate() {
            let Some(before) = last_of.insert(stored.thread, place) else { continue };
            let is_near = stored.seq.0 - self.messages[before].seq.0 <= AROUND;
            let silence = stored.sent_at.since(self.messages[before].sent_at);
            if is_near && silence <= SESSION_SILENCE {
                passages[place].before = Some(before);
                passages[before].after = Some(place);
            }
        }
        passages
    }
}

/// Numbers of what is read around `proposals`, best first, as ranges that do not touch; nothing from `before` on.
fn ranges(proposals: impl Iterator<Item = Seq>, before: Seq) -> Vec<(Seq, Seq)> {
    let (mut ranges, mut read): (BTreeMap<u32, u32>, u32) = (BTreeMap::new(), 0);
    for (place, seq) in proposals.filter(|seq| *seq < before).enumerate() {
        if read >= READ {
            break;
        }
        let reach = if place < BEST { AROUND } else { NEXT };
        let (mut from, mut to) = (seq.0.saturating_sub(reach), seq.0.saturating_add(reach).min(before.0 - 1));
        // Swallows the ranges that it meets.
        while let Some((known_from, known_to)) = ranges.range(..=to + 1).next_back().map(|(from, to)| (*from, *to)) {
            if known_to + 1 < from {
                break;
            }
            ranges.remove(&known_from);
            read -= known_to - known_from + 1;
            (from, to) = (from.min(known_from), to.max(known_to));
        }
        ranges.insert(from, to);
        read += to - from + 1;
    }
    ranges.into_iter().map(|(from, to)| (Seq(from), Seq(to))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(proposals: &[u32], before: u32) -> Vec<(u32, u32)> {
        ranges(proposals.iter().copied().map(Seq), Seq(before)).into_iter().map(|(from, to)| (from.0, to.0)).collect()
    }

    #[test]
    fn ranges_that_meet_become_one_and_end_before_the_trigger() {
        assert_eq!(read(&[20, 100, 31, 102], 104), [(15, 36), (95, 103)]);
        assert_eq!(read(&[3, 50, 60], 55), [(0, 8), (45, 54)]);
    }

    #[test]
    fn no_more_is_read_than_the_limit_and_one_range() {
        let many: Vec<u32> = (1..200).map(|place| place * 1_000).collect();
        let count: u32 = read(&many, 1_000_000).iter().map(|(from, to)| to - from + 1).sum();
        assert!((READ..READ + 2 * AROUND + 1).contains(&count), "{count}");
    }
}
