//! Estimates the probability that a trigger continues nothing that was written before.

use std::sync::Arc;

use serde::Deserialize;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::Token;
use crate::context::focus::TriggerFeatures;
use crate::context::linear::{Terms, chance};
use chime_core::dot;

pub const FEATURES: usize = 3;
pub const NAMES: [&str; FEATURES] = ["shared_stems", "group_words", "two_numbers"];

/// Logistic model of the probability that a trigger starts a new subject.
#[derive(Debug, Clone, Deserialize)]
pub struct NoveltyModel {
    /// Minimum probability of a new subject at which the focus is empty.
    pub threshold: f64,
    #[serde(flatten)]
    pub terms: Terms<FEATURES>,
    /// Weights of the trigger's embedding by the shipped model: "how tall is Everest?" means something else than what
    /// people ask about their own affairs.
    pub meaning: Vec<f32>,
    /// Mean of what the embedding adds to the score, used if the shipped model is not loaded.
    pub usual_meaning: f64,
}

impl NoveltyModel {
    /// Returns the probability that the trigger starts a new subject, 0 to 1.
    pub fn novelty(&self, tag: &TriggerFeatures<'_>, candidates: &[Arc<MessageFeatures>]) -> f64 {
        let Some(values) = features(tag, candidates) else { return 0.0 };
        let of_meaning = match tag.meaning.as_deref() {
            None => self.usual_meaning,
            Some([]) => 0.0,
            Some(vector) => f64::from(dot(vector, &self.meaning)),
        };
        chance(self.terms.score(&values) + of_meaning)
    }
}

/// Computes the features in the order of [`NAMES`]. `None` if the trigger names a member or has no subject of its own,
/// so that it must be about the group, or is in another language than the conversation, so that it shares no words with
/// it in any case.
pub fn features(tag: &TriggerFeatures<'_>, candidates: &[Arc<MessageFeatures>]) -> Option<[f64; FEATURES]> {
    let stems = &tag.utterance.features.stems;
    let is_wordless = tag.is_generic || (stems.is_empty() && tag.numbers == 0);
    if is_wordless || tag.is_foreign || !tag.mentions.is_empty() {
        return None;
    }
    // Share of the trigger's stems that occur in any candidate.
    let is_known = |stem: &&Token| candidates.iter().any(|other| other.has_stem(**stem));
    let shared = stems.iter().filter(is_known).count() as f64 / stems.len().max(1) as f64;
    Some([shared, (tag.ours as f64).ln_1p(), f64::from(tag.numbers >= 2)])
}
