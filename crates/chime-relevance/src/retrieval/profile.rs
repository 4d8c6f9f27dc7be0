//! How features become a score: the fitted weights, and the named profiles that they are compared with.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::retrieval::features::Features;

/// Who ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// The weighted sum of all features: what the daemon runs.
    #[default]
    Fitted,
    /// The same without any vector.
    Lexical,
    /// Cosines alone.
    Vectors,
    /// .6 similarity, .25 tag overlap, .15 recency: the first design's blend.
    SeedBlend,
    /// BM25 over stems.
    Bm25,
    /// Share of the question's stems.
    Tags,
}

/// The fitted numbers of this room.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub message: Features,
    pub session: SessionWeights,
}

/// What a session's parts weigh.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionWeights {
    pub best: f64,
    pub mean_of_three: f64,
    pub summary_coverage: f64,
    pub summary_cosine: f64,
}

/// Empty when the file is not of the right form, which a test rules out.
static SHIPPED: LazyLock<Weights> = LazyLock::new(|| {
    serde_json::from_str(include_str!("weights.json"))
        .unwrap_or(Weights { message: Features::default(), session: SessionWeights::default() })
});

impl Weights {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// What a message's features weigh under `profile`; none where it does not rank by them.
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
