//! New-topic detection: how likely a tag takes up nothing that was said.

use std::sync::Arc;

use serde::Deserialize;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::Token;
use crate::context::focus::Tag;
use crate::context::linear::{Terms, chance};

pub const FEATURES: usize = 4;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = ["unlinked_log_odds", "has_words", "shared_stems", "group_words"];

/// A logistic model of a tag's starting something new.
#[derive(Debug, Clone, Deserialize)]
pub struct NoveltyModel {
    /// A tag that is at least this likely to start something new gets an empty focus.
    pub threshold: f64,
    /// What a token of focus costs, in F1, where the tag starts something new.
    pub price: f64,
    #[serde(flatten)]
    pub terms: Terms<FEATURES>,
}

impl NoveltyModel {
    /// How likely a tag starts something new.
    pub fn novelty(&self, tag: &Tag<'_>, candidates: &[Arc<MessageFeatures>]) -> f64 {
        chance(self.terms.score(&features(tag, candidates)))
    }
}

/// The expected cost of taking each candidate, in F1: its tokens, each at a `price`, times the odds that the tag starts
/// something new. `lengths` are the candidates' characters.
pub fn waste(newness: f64, price: f64, lengths: impl Iterator<Item = usize>) -> Vec<f32> {
    /// Characters of a token, about.
    const TOKEN: f64 = 4.0;
    // Odds and not the probability: the gain in F1 counts only where something is taken up.
    let odds = newness / (1.0 - newness).max(1e-6);
    let tokens = |letters: usize| 1.0 + (letters as f64 / TOKEN).floor();
    lengths.map(|letters| (price * odds * tokens(letters)) as f32).collect()
}

/// In the order of their names.
pub fn features(tag: &Tag<'_>, candidates: &[Arc<MessageFeatures>]) -> [f64; FEATURES] {
    let unlinked = (tag.unlinked + 0.003).ln();
    if tag.is_bare {
        return [unlinked, 0.0, 0.0, 0.0];
    }
    // The share of its stems that any candidate has too.
    let stems = &tag.utterance.features.stems;
    let is_known = |stem: &&Token| candidates.iter().any(|other| other.has_stem(**stem));
    let shared = stems.iter().filter(is_known).count() as f64 / stems.len().max(1) as f64;
    [unlinked, 1.0, shared, (tag.ours as f64).ln_1p()]
}
