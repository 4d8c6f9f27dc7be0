//! The fitted numbers of this room, from `weights.json`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::beyond::judge::{FEATURES, NAMES};
use crate::context::explain::Feature;
use crate::context::linear::{Row, Terms, chance};

/// Fitted by `cargo bench --bench fit -- --beyond` on hand-written groups whose older part was hidden among other groups of
/// the same language; the threshold was set, not fitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "File")]
pub struct Weights {
    /// What is less likely is not taken.
    pub threshold: f64,
    terms: Terms<FEATURES>,
}

/// The file as it is written.
#[derive(Deserialize)]
struct File {
    threshold: f64,
    bias: f64,
    terms: Vec<Row>,
}

impl TryFrom<File> for Weights {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        Ok(Self { threshold: file.threshold, terms: Terms::of(file.bias, &file.terms, &NAMES)? })
    }
}

/// The shipped weights; none when the file is not of the right form, which a test would tell.
static SHIPPED: LazyLock<Option<Weights>> = LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).ok());

impl Weights {
    pub fn shipped() -> Option<&'static Self> {
        SHIPPED.as_ref()
    }

    /// How likely a span with these features is about the same.
    pub fn probability(&self, features: &[f64; FEATURES]) -> f64 {
        chance(self.terms.score(features))
    }

    /// What each feature adds, the weightiest first.
    pub fn explained(&self, features: &[f64; FEATURES]) -> Vec<Feature> {
        let parts = self.terms.parts(features);
        let feature = |((name, value), contribution): ((&&str, &f64), &f64)| Feature {
            name: format!("beyond.{name}"),
            value: *value,
            contribution: *contribution,
        };
        let mut explained: Vec<Feature> = NAMES.iter().zip(features).zip(&parts).map(feature).collect();
        explained.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        explained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = Weights::shipped().expect("the file is of the right form");
        assert!(weights.terms.terms.iter().all(|term| term.weight != 0.0 && term.low <= term.high));
        assert!((0.0..1.0).contains(&weights.threshold));
    }
}
