//! Weights that turn features into a score: the fitted ones, and other rankings to compare them with.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::retrieval::features::Features;

/// Ranking method. All but [`Profile::Fitted`] only serve to compare it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Weighted sum of all features: the ranking that answers use.
    #[default]
    Fitted,
    /// The fitted weights without any vectors.
    Lexical,
    /// Fitted weights of the cosines alone.
    Vectors,
    /// Blend of the first design: .6 cosine, .25 share of the question's stems, .15 recency.
    SeedBlend,
    Bm25,
    /// Share of the question's stems that the message has.
    Tags,
}

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

    /// Returns the weights of the message features under `profile`; `None` if the profile does not score by features.
    pub fn of_message(&self, profile: Profile) -> Option<Features> {
        match profile {
            Profile::Fitted => Some(self.message),
            Profile::Lexical => {
                Some(Features { window_cosine: 0.0, wide_cosine: 0.0, sentence_cosine: 0.0, ..self.message })
            }
            Profile::Vectors => Some(Features {
                window_cosine: self.message.window_cosine,
                wide_cosine: self.message.wide_cosine,
                sentence_cosine: self.message.sentence_cosine,
                ..Features::default()
            }),
            Profile::SeedBlend | Profile::Bm25 | Profile::Tags => None,
        }
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
