//! Ranks messages for a question.

use crate::retrieval::features::{Features, PreparedQuestion};
use crate::retrieval::frequencies::Frequencies;
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, PassageProperties};
use crate::retrieval::question::ParsedQuestion;

/// Number of best passages whose sentences are embedded. The others rank too low to reach the top by one sentence.
const SENTENCES_READ: usize = 48;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index in the list of passages.
    pub index: usize,
    pub score: f64,
    pub features: Features,
}

/// Ranks all passages by the weighted sum of their features, best first, and of equally good ones the earlier first.
/// Without `frequencies`, the rarity of stems (idf) is computed from the passages themselves.
pub fn rank(
    question: &ParsedQuestion,
    passages: &[Passage<'_>],
    frequencies: Option<&Frequencies>,
    lexicon: &mut Lexicon<'_>,
    weights: &Features,
) -> Vec<Ranked> {
    let readings: Vec<PassageProperties> =
        passages.iter().map(|passage| PassageProperties::of(passage, question, lexicon)).collect();
    let counted = frequencies.is_none().then(|| Frequencies::count(&readings, lexicon));
    let Some(frequencies) = frequencies.or(counted.as_ref()) else { return Vec::new() };
    let prepared = PreparedQuestion::new(question, passages, &readings, |stem| frequencies.idf(stem), lexicon);
    let mut ranked: Vec<Ranked> = (0..passages.len())
        .map(|index| {
            let features = prepared.features(passages, &readings, index);
            Ranked { index, score: features.dot(weights), features }
        })
        .collect();
    sort(&mut ranked);
    if weights.sentence_cosine != 0.0 {
        for one in ranked.iter_mut().take(SENTENCES_READ) {
            one.features.sentence_cosine = prepared.sentence_cosine(&passages[one.index], lexicon);
            one.score = one.features.dot(weights);
        }
        sort(&mut ranked);
    }
    ranked
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
}

#[cfg(test)]
mod tests;
