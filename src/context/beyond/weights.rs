//! The fitted numbers of this room, from `weights.json`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::context::beyond::judge::{FEATURES, NAMES};
use crate::context::explain::Feature;

/// Fitted by `cargo bench --bench fit -- --beyond` on hand-written groups whose older part was hidden among other groups of
/// the same language; the threshold was set, not fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// What is less likely is not taken.
    pub threshold: f64,
    pub bias: f64,
    /// In the order of their features.
    pub terms: Vec<Term>,
}

/// A feature, clamped to the range seen in training, times its weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Term {
    pub name: String,
    pub w: f64,
    pub lo: f64,
    pub hi: f64,
}

/// The shipped weights; none when the file is not of the right form, which a test would tell.
static SHIPPED: LazyLock<Option<Weights>> = LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).ok());

impl Weights {
    pub fn shipped() -> Option<&'static Self> {
        SHIPPED.as_ref()
    }

    /// How likely a span with these features is about the same.
    pub fn probability(&self, features: &[f64; FEATURES]) -> f64 {
        let odds = self.bias + self.terms.iter().zip(features).map(|(term, value)| term.weigh(*value)).sum::<f64>();
        1.0 / (1.0 + (-odds).exp())
    }

    /// What each feature adds, the weightiest first.
    pub fn explained(&self, features: &[f64; FEATURES]) -> Vec<Feature> {
        let feature = |((name, value), term): ((&&str, &f64), &Term)| Feature {
            name: format!("beyond.{name}"),
            value: *value,
            contribution: term.weigh(*value),
        };
        let mut explained: Vec<Feature> = NAMES.iter().zip(features).zip(&self.terms).map(feature).collect();
        explained.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        explained
    }
}

impl Term {
    fn weigh(&self, value: f64) -> f64 {
        self.w * value.clamp(self.lo, self.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = Weights::shipped().expect("the file is of the right form");
        let names: Vec<&str> = weights.terms.iter().map(|term| term.name.as_str()).collect();
        assert_eq!(names, NAMES);
        assert!(weights.terms.iter().all(|term| term.lo <= term.hi));
    }
}
