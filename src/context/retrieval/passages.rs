//! Where the words that are sought were said, and how much it tells that they were said just there.

use crate::domain::Seq;

/// The newest places of a word that are asked for.
pub const MOST_OF_A_WORD: usize = 64;
/// Spans that are read.
const SPANS: usize = 6;
/// Messages that a span covers at most.
const WIDTH: u32 = 16;
/// Hits further apart than this are not of one span.
const NEAR: u32 = 8;
/// Hits of a span that are read, the strongest.
const HITS: usize = 6;
/// What is nearer than so many messages is as near as can be: there every usual word was just said.
const NEAREST: f64 = 200.0;
/// A word that is met by accident ten times on the way tells nothing.
const TELLING: f64 = 0.1;

/// Where a word was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// Before the candidates, the newest first, at most [`MOST_OF_A_WORD`].
    pub newest: Vec<Seq>,
    /// How sure it is that the word is of the matter.
    pub weight: f64,
}

/// A short stretch of messages in which words that are sought were said.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Where the words are, oldest first.
    pub hits: Vec<Seq>,
    /// How much each word tells that was said here, the strongest first.
    pub strengths: Vec<f64>,
}

impl Span {
    fn strength(&self) -> f64 {
        // One rare word tells more than two that are half as rare.
        self.strengths.iter().map(|strength| strength * strength).sum()
    }
}

struct Hit {
    at: Seq,
    word: usize,
    strength: f64,
}

/// The spans that tell most, the strongest first. `said` has one entry a word; `before` is the oldest candidate, and all
/// messages of the chat before it are counted by their numbers.
pub fn spans(said: &[Said], before: Seq) -> Vec<Span> {
    let mut hits: Vec<Hit> = (said.iter().enumerate()).flat_map(|(word, said)| hits_of(word, said, before)).collect();
    hits.sort_by_key(|hit| (hit.at, hit.word));
    let is_one = |span: &[Hit], next: &Hit| match (span.first(), span.last()) {
        (Some(first), Some(last)) => next.at.0 - first.at.0 < WIDTH && next.at.0 - last.at.0 <= NEAR,
        _ => true,
    };
    let (mut spans, mut open) = (Vec::new(), Vec::new());
    for hit in hits {
        if !is_one(&open, &hit) {
            spans.push(span(&open));
            open.clear();
        }
        open.push(hit);
    }
    if !open.is_empty() {
        spans.push(span(&open));
    }
    spans.sort_by(|a, b| b.strength().total_cmp(&a.strength()).then(b.hits.cmp(&a.hits)));
    spans.truncate(SPANS);
    spans
}

/// A word tells as much as it is unlikely to be met by accident from there to here, at the rate that this chat says it.
fn hits_of(word: usize, said: &Said, before: Seq) -> Vec<Hit> {
    let back = |at: Seq| f64::from(before.0.saturating_sub(at.0)).max(NEAREST);
    let count = said.newest.len();
    let all_back = back(Seq(0));
    let rate = match said.newest.last() {
        Some(oldest) if count >= MOST_OF_A_WORD => count as f64 / back(*oldest),
        _ => (count as f64 + 0.5) / all_back,
    };
    let hit = |at: &Seq| Hit { at: *at, word, strength: said.weight * (rate * back(*at)).recip().ln_1p() };
    let newest = said.newest.iter().filter(|at| **at < before);
    newest.map(hit).filter(|hit| hit.strength > TELLING).collect()
}

fn span(hits: &[Hit]) -> Span {
    let mut by_word: Vec<(usize, f64)> = Vec::new();
    for hit in hits {
        match by_word.iter_mut().find(|(word, _)| *word == hit.word) {
            Some((_, strength)) => *strength = strength.max(hit.strength),
            None => by_word.push((hit.word, hit.strength)),
        }
    }
    let mut strengths: Vec<f64> = by_word.into_iter().map(|(_, strength)| strength).collect();
    strengths.sort_by(|a, b| b.total_cmp(a));
    let mut strongest: Vec<&Hit> = hits.iter().collect();
    strongest.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(b.at.cmp(&a.at)));
    let mut at: Vec<Seq> = Vec::new();
    for hit in strongest {
        if at.len() < HITS && !at.contains(&hit.at) {
            at.push(hit.at);
        }
    }
    at.sort_unstable();
    Span { hits: at, strengths }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(newest: &[u32]) -> Said {
        Said { newest: newest.iter().copied().map(Seq).collect(), weight: 1.0 }
    }

    #[test]
    fn a_rare_word_that_was_said_lately_tells_more_than_a_usual_one_or_an_old_one() {
        let usual: Vec<u32> = (0..64).map(|n| 9_990 - n * 10).collect();
        let found = spans(&[said(&[9_700]), said(&usual), said(&[1_000])], Seq(10_000));
        assert_eq!(found[0].hits, [Seq(9_700)], "{found:?}");
        assert!(found[0].strengths[0] > 2.0 && found.iter().skip(1).all(|span| span.strengths[0] < 3.0), "{found:?}");
    }

    #[test]
    fn words_that_were_said_together_are_one_span() {
        let found = spans(&[said(&[9_705]), said(&[9_701, 9_400])], Seq(10_000));
        assert_eq!((found[0].hits.as_slice(), found[0].strengths.len()), (&[Seq(9_701), Seq(9_705)][..], 2));
        assert_eq!(found[1].hits, [Seq(9_400)]);
    }

    #[test]
    fn nothing_was_said() {
        assert_eq!(spans(&[said(&[]), said(&[])], Seq(10_000)), []);
        assert_eq!(spans(&[said(&[1])], Seq(1)), [], "there is nothing before the first");
    }
}
