//! Limits, budget and weights of the picker.

use std::sync::Arc;

use crate::context::seed::SeedRule;
use crate::context::weights::Scorers;

#[derive(Debug, Clone)]
pub struct Params {
    /// Time-gap rule of the first design.
    pub seed: SeedRule,
    /// Most reply links that are followed from a message of the window.
    pub chain_depth: usize,
    /// Tokens of the whole window, counted by `estimate`.
    pub token_budget: usize,
    /// Estimates the tokens of a text.
    pub estimate: fn(&str) -> usize,
    /// Most messages of a focus, without those that reply links add.
    pub focus_limit: usize,
    pub scorers: Arc<Scorers>,
}

impl Params {
    /// Default of `chain_depth`.
    pub const CHAIN_DEPTH: usize = 20;
    /// Messages on either side of an old anchor that become candidates with it.
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
