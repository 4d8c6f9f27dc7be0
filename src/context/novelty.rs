//! Does the trigger take anything up at all, or does it start something new?

use std::sync::Arc;

use serde::Deserialize;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::Token;
use crate::context::focus::Tag;
use crate::context::linear::{Terms, chance};

pub const FEATURES: usize = 4;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = ["unlinked_log_odds", "has_words", "shared_stems", "group_words"];

/// Whether a tag takes up anything at all.
#[derive(Debug, Clone, Deserialize)]
pub struct NoveltyModel {
    /// What more likely than this starts something new is given nothing earlier.
    pub threshold: f64,
    /// What a token costs, in F1, that is spent on a tag that starts something new.
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

/// What each candidate is expected to waste if it is given to a tag, in F1: all its tokens, each at a `price`, where the tag
/// starts something new after all. One that may is given only what is all but sure to be meant if anything is.
/// `lengths` are the candidates' letters.
pub fn waste(newness: f64, price: f64, lengths: impl Iterator<Item = usize>) -> Vec<f32> {
    /// Letters that make a token, about.
    const TOKEN: f64 = 4.0;
    // What helps only counts where something is taken up.
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
    // The share of its stems that a candidate has too.
    let stems = &tag.utterance.features.stems;
    let is_known = |stem: &&Token| candidates.iter().any(|other| other.has_stem(**stem));
    let shared = stems.iter().filter(is_known).count() as f64 / stems.len().max(1) as f64;
    [unlinked, 1.0, shared, (tag.ours as f64).ln_1p()]
}
