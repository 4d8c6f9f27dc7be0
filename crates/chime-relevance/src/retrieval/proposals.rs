//! Proposes messages of a chat that are worth reading for a question, from the index of its words and the scores of
//! other retrievers. It reads no message.

use std::collections::{BTreeMap, HashMap};

use chime_core::Seq;

/// Word of a question, with the messages that have it.
#[derive(Debug, Clone, Default)]
pub struct WordPostings {
    pub idf: f64,
    pub seqs: Vec<Seq>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proposal {
    pub seq: Seq,
    pub score: f64,
    /// Share of the question's words, by idf, that the message itself has.
    pub own: f64,
}

/// Maximum number of words of a question that count, one bit each. No real question has more content words.
const MOST_WORDS: usize = 64;
/// A message scores by the share of the question's words in it (`OF_OWN`), within two messages (`OF_NEAR`) and within
/// five (`OF_WIDE`).
const NEAR: u32 = 2;
const WIDE: u32 = 5;
const OF_NEAR: f64 = 0.3;
const OF_WIDE: f64 = 1.0;
const OF_OWN: f64 = 0.85;
/// Number of messages on either side of a good proposal that are read with it.
pub const AROUND: u32 = 5;
/// Number of the best proposals that are read with [`AROUND`] neighbours on either side; all others are read with
/// [`NEXT`].
const BEST: usize = 12;
const NEXT: u32 = 2;

/// Proposes messages, best first; of equally good ones, the later first. `others` holds the scores of messages from
/// other retrievers.
pub fn proposals(words: &[WordPostings], others: &HashMap<Seq, f64>) -> Vec<Proposal> {
    let words = &words[..words.len().min(MOST_WORDS)];
    let total = words.iter().map(|word| word.idf).sum::<f64>().max(1e-6);
    let share = |said: u64| {
        let idf: f64 = words.iter().enumerate().filter(|(bit, _)| said >> bit & 1 == 1).map(|(_, word)| word.idf).sum();
        idf / total
    };
    let said = said(words, others.keys());
    let mut proposals = Vec::with_capacity(said.len());
    let mut first = 0;
    for (place, (seq, own)) in said.iter().enumerate() {
        while said[first].0 + WIDE < *seq {
            first += 1;
        }
        let (mut near, mut wide) = (*own, *own);
        for (other, words) in said[first..].iter().take_while(|(other, _)| *other <= seq.saturating_add(WIDE)) {
            wide |= words;
            near |= if other.abs_diff(*seq) <= NEAR { *words } else { 0 };
        }
        let other = others.get(&Seq(said[place].0)).copied().unwrap_or(0.0);
        let own = share(*own);
        let score = OF_WIDE * share(wide) + OF_NEAR * share(near) + OF_OWN * own + other;
        proposals.push(Proposal { seq: Seq(*seq), score, own });
    }
    proposals.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    proposals
}

/// Returns every message of `words` and `others` once, by ascending number, with a bitmap of the words that it has.
fn said<'a>(words: &[WordPostings], others: impl Iterator<Item = &'a Seq>) -> Vec<(u32, u64)> {
    let of_words = words.iter().enumerate().flat_map(|(bit, word)| word.seqs.iter().map(move |seq| (seq.0, 1 << bit)));
    let mut all: Vec<(u32, u64)> = of_words.chain(others.map(|seq| (seq.0, 0))).collect();
    all.sort_unstable();
    all.dedup_by(|next, kept| {
        let is_same = next.0 == kept.0;
        kept.1 |= if is_same { next.1 } else { 0 };
        is_same
    });
    all
}

/// Returns the ranges of message numbers to read around `proposals`, which come best first. Adds proposals until `most`
/// messages are covered; the last one may exceed that. Ranges do not touch, and all end before `before`.
pub fn ranges(proposals: impl Iterator<Item = Seq>, before: Seq, most: u32) -> Vec<(Seq, Seq)> {
    let (mut ranges, mut read): (BTreeMap<u32, u32>, u32) = (BTreeMap::new(), 0);
    for (place, seq) in proposals.filter(|seq| *seq < before).enumerate() {
        if read >= most {
            break;
        }
        let reach = if place < BEST { AROUND } else { NEXT };
        let (mut from, mut to) = (seq.0.saturating_sub(reach), seq.0.saturating_add(reach).min(before.0 - 1));
        // Merges the new range with the ranges that it touches.
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

    fn best(words: &[(f64, &[u32])], others: &[(u32, f64)]) -> Vec<u32> {
        let words: Vec<WordPostings> = (words.iter())
            .map(|(idf, seqs)| WordPostings { idf: *idf, seqs: seqs.iter().copied().map(Seq).collect() })
            .collect();
        let others = others.iter().map(|(seq, score)| (Seq(*seq), *score)).collect();
        proposals(&words, &others).iter().map(|one| one.seq.0).collect()
    }

    #[test]
    fn who_says_most_is_first_and_neighbours_help() {
        assert_eq!(best(&[(1.0, &[1, 40, 90]), (1.0, &[43, 90])], &[]), [90, 43, 40, 1]);
        assert_eq!(best(&[(3.0, &[7]), (1.0, &[20])], &[]), [7, 20], "a rare word says more");
    }

    #[test]
    fn what_other_legs_say_counts_with_the_words_and_without() {
        assert_eq!(best(&[(1.0, &[1, 20])], &[(20, 0.1), (30, 5.0)]), [30, 20, 1]);
        assert_eq!(best(&[], &[]), [] as [u32; 0]);
    }

    const READ: u32 = 220;

    fn read(proposals: &[u32], before: u32) -> Vec<(u32, u32)> {
        ranges(proposals.iter().copied().map(Seq), Seq(before), READ)
            .into_iter()
            .map(|(from, to)| (from.0, to.0))
            .collect()
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
