//! How far to look and how much to take.

use std::sync::Arc;

use crate::context::seed::SeedRule;
use crate::context::weights::Scorers;

/// How far to look and how much to take.
#[derive(Debug, Clone)]
pub struct Params {
    /// The first design's rule.
    pub seed: SeedRule,
    /// Reply links that are followed from a member of the window.
    pub chain_depth: usize,
    /// Tokens of the whole window, counted by `estimate`.
    pub token_budget: usize,
    /// How many tokens a text takes.
    pub estimate: fn(&str) -> usize,
    /// Most messages of a focus, those that reply links lead to not counted.
    pub focus_limit: usize,
    /// The fitted weights.
    pub scorers: Arc<Scorers>,
}

impl Params {
    /// Reply links that are followed.
    pub const CHAIN_DEPTH: usize = 20;
    /// Messages on either side of an old anchor that are candidates with it.
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
