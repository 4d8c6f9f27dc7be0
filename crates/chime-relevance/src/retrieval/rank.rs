//! Ranks messages for a question.

use std::collections::HashMap;

use crate::retrieval::baselines;
use crate::retrieval::features::{Features, Prepared};
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, Reading};
use crate::retrieval::profile::{Profile, Weights};
use crate::retrieval::question::Question;

/// Number of messages of a chat in which each stem occurs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frequencies {
    pub messages: f64,
    pub holding: HashMap<String, f64>,
}

impl Frequencies {
    /// Returns the idf of a stem. Unknown stems count as the rarest, so that a message without them scores low.
    pub fn idf(&self, stem: &str) -> f64 {
        let holding = self.holding.get(stem).copied().unwrap_or(0.0);
        (1.0 + (self.messages - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
    }

    fn count(readings: &[Reading], lexicon: &Lexicon<'_>) -> Self {
        let mut holding: HashMap<String, f64> = HashMap::new();
        for reading in readings {
            let mut stems: Vec<&str> = reading.words.iter().map(|id| &*lexicon.word(*id).stem).collect();
            stems.sort_unstable();
            stems.dedup();
            for stem in stems {
                match holding.get_mut(stem) {
                    Some(count) => *count += 1.0,
                    None => drop(holding.insert(stem.to_owned(), 1.0)),
                }
            }
        }
        Self { messages: readings.len() as f64, holding }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Index among the passages.
    pub index: usize,
    pub score: f64,
    pub features: Features,
}

/// Ranks all passages, best first; of equals the earlier one. `frequencies` default to counts over the passages.
pub fn rank(
    question: &Question,
    passages: &[Passage<'_>],
    frequencies: Option<&Frequencies>,
    lexicon: &mut Lexicon<'_>,
    profile: Profile,
) -> Vec<Ranked> {
    let readings: Vec<Reading> = passages.iter().map(|passage| Reading::of(passage, question, lexicon)).collect();
    let counted = frequencies.is_none().then(|| Frequencies::count(&readings, lexicon));
    let Some(frequencies) = frequencies.or(counted.as_ref()) else { return Vec::new() };
    let prepared = Prepared::new(question, (passages, &readings), |stem| frequencies.idf(stem), lexicon);
    let mut ranked = match Weights::shipped().of_message(profile) {
        Some(weights) => by_features(&prepared, (passages, &readings), lexicon, &weights),
        None => baselines::ranked(profile, question, (passages, &readings), (frequencies, &prepared), lexicon),
    };
    sort(&mut ranked);
    ranked
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index)));
}

/// Candidates whose sentences are embedded; the others rank too low to reach the top by one sentence.
const SENTENCES_READ: usize = 48;

fn by_features(
    prepared: &Prepared<'_>,
    (passages, readings): (&[Passage<'_>], &[Reading]),
    lexicon: &Lexicon<'_>,
    weights: &Features,
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = (0..passages.len())
        .map(|index| {
            let features = prepared.features(passages, readings, index);
            Ranked { index, score: features.dot(weights), features }
        })
        .collect();
    if weights.sentence_cosine != 0.0 {
        sort(&mut ranked);
        for one in ranked.iter_mut().take(SENTENCES_READ) {
            one.features.sentence_cosine = prepared.sentence_cosine(&passages[one.index], lexicon);
            one.score = one.features.dot(weights);
        }
    }
    ranked
}

#[cfg(test)]
mod tests;
