//! Fitted weights that turn features into a score.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::retrieval::features::Features;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub message: Features,
    pub session: SessionWeights,
}

/// Weights of the parts of a session's score: its best message, the mean of its best three, and two for its summary.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionWeights {
    pub best: f64,
    pub mean_of_three: f64,
    pub summary_coverage: f64,
    pub summary_cosine: f64,
}

/// Fitted weights. If the file did not parse, all would be 0; a test checks that it parses.
static SHIPPED: LazyLock<Weights> = LazyLock::new(|| {
    serde_json::from_str(include_str!("weights.json"))
        .unwrap_or(Weights { message: Features::default(), session: SessionWeights::default() })
});

impl Weights {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights: Weights =
            serde_json::from_str(include_str!("weights.json")).expect("the file is of the right form");
        assert!(weights.message.window_coverage > 0.0 && weights.session.best > 0.0);
    }
}
