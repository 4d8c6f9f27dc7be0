//! Limits, budget and weights of the picker.

use std::sync::Arc;

use crate::context::seed::SeedRule;
use crate::context::weights::Scorers;

#[derive(Debug, Clone)]
pub struct Params {
    /// Rule of the first design (messages up to a time gap), which now gives one feature.
    pub seed: SeedRule,
    /// Maximum number of reply links that are followed back from a message.
    pub chain_depth: usize,
    /// Maximum tokens of the whole window, counted by `estimate`.
    pub token_budget: usize,
    /// Function that estimates the tokens of a text.
    pub estimate: fn(&str) -> usize,
    /// Maximum messages of a focus; those that reply links add are not counted.
    pub focus_limit: usize,
    pub scorers: Arc<Scorers>,
}

impl Params {
    /// Default value of `chain_depth`.
    pub const CHAIN_DEPTH: usize = 20;
    /// Number of messages on either side of an old anchor that become candidates too.
    pub const ANCHOR_BESIDE: usize = 20;

    pub fn new(estimate: fn(&str) -> usize) -> Self {
        Self {
            seed: SeedRule::default(),
            chain_depth: Self::CHAIN_DEPTH,
            token_budget: 1600,
            estimate,
            focus_limit: 20,
            scorers: Scorers::shipped(),
        }
    }
}
