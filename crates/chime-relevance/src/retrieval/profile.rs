//! Weights that turn features into a score: the fitted ones, and named profiles for comparison.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::retrieval::features::Features;

/// Ranking method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Weighted sum of all features, the production ranking.
    #[default]
    Fitted,
    /// The fitted weights without any vectors.
    Lexical,
    /// Cosines alone.
    Vectors,
    /// .6 similarity, .25 tag overlap, .15 recency: the first design's blend.
    SeedBlend,
    Bm25,
    /// Share of the question's stems that the message holds.
    Tags,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub message: Features,
    pub session: SessionWeights,
}

/// Weights of the parts of a session's score.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionWeights {
    pub best: f64,
    pub mean_of_three: f64,
    pub summary_coverage: f64,
    pub summary_cosine: f64,
}

/// Zero weights if the file does not parse; a test rules that out.
static SHIPPED: LazyLock<Weights> = LazyLock::new(|| {
    serde_json::from_str(include_str!("weights.json"))
        .unwrap_or(Weights { message: Features::default(), session: SessionWeights::default() })
});

impl Weights {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Returns the weights of a message's features under `profile`; `None` if the profile does not use them.
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
