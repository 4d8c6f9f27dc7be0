//! Estimates the probability that a trigger continues nothing that was written before.

use std::sync::Arc;

use serde::Deserialize;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::Token;
use crate::context::focus::TriggerFeatures;
use crate::context::linear::{Terms, chance};

pub const FEATURES: usize = 4;
pub const NAMES: [&str; FEATURES] = ["unlinked_log_odds", "has_words", "shared_stems", "group_words"];

/// Logistic model of the probability that a trigger starts a new subject.
#[derive(Debug, Clone, Deserialize)]
pub struct NoveltyModel {
    /// Minimum probability of a new subject at which the focus is empty.
    pub threshold: f64,
    /// Cost of a token of the focus, in F1, if the trigger does start a new subject.
    pub price: f64,
    #[serde(flatten)]
    pub terms: Terms<FEATURES>,
}

impl NoveltyModel {
    pub fn novelty(&self, tag: &TriggerFeatures<'_>, candidates: &[Arc<MessageFeatures>]) -> f64 {
        chance(self.terms.score(&features(tag, candidates)))
    }
}

/// Returns the expected cost of each candidate, in F1: its tokens times `price` times the odds of a new subject.
/// `lengths` holds the characters of each candidate.
pub fn waste(newness: f64, price: f64, lengths: impl Iterator<Item = usize>) -> Vec<f32> {
    /// Approximate number of characters of a token.
    const TOKEN: f64 = 4.0;
    // The odds are used instead of the probability, because F1 can be gained only if the trigger continues a subject.
    let odds = newness / (1.0 - newness).max(1e-6);
    let tokens = |letters: usize| 1.0 + (letters as f64 / TOKEN).floor();
    lengths.map(|letters| (price * odds * tokens(letters)) as f32).collect()
}

/// Computes the features in the order of [`NAMES`].
pub fn features(tag: &TriggerFeatures<'_>, candidates: &[Arc<MessageFeatures>]) -> [f64; FEATURES] {
    let unlinked = (tag.unlinked + 0.003).ln();
    if tag.is_bare {
        return [unlinked, 0.0, 0.0, 0.0];
    }
    // Share of the trigger's stems that occur in any candidate.
    let stems = &tag.utterance.features.stems;
    let is_known = |stem: &&Token| candidates.iter().any(|other| other.has_stem(**stem));
    let shared = stems.iter().filter(is_known).count() as f64 / stems.len().max(1) as f64;
    [unlinked, 1.0, shared, (tag.ours as f64).ln_1p()]
}
