//! The fitted numbers of this room, from `weights.json`.

use serde::Deserialize;

use crate::context::linear::{Row, Terms};
use crate::context::matters::link;
use crate::context::matters::link::SegmentLink;
use crate::context::novelty::NoveltyModel;
use crate::context::relatedness::{pairwise, refine};
use crate::context::{focus, novelty};

/// Fitted on the labelled chats of `data/chats` by `cargo bench --bench fit`; the figures that are published of them were
/// measured on chats that they had not seen. `far`, the threshold of the novelty and the price of a token were set, not fitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "File")]
pub struct Weights {
    /// Seconds of silence that end a segment, unless a reply bridges them.
    pub far: f64,
    /// Whether a segment takes up an earlier matter.
    pub segment_link: SegmentLink,
    pub novelty: NoveltyModel,
    /// Where a tag's words say too little to go by, and where they do not.
    pub focus_bare: Terms<{ focus::FEATURES }>,
    pub focus_text: Terms<{ focus::FEATURES }>,
    pub pairwise: Terms<{ pairwise::FEATURES }>,
    /// For each further look.
    pub refine: Vec<Terms<{ refine::FEATURES }>>,
}

impl Weights {
    /// The shipped weights as they are written.
    pub const WRITTEN: &str = include_str!("weights.json");
}

/// The file as it is written.
#[derive(Deserialize)]
struct File {
    far: f64,
    segment_link: Table,
    novelty: Table,
    focus_bare: Table,
    focus_text: Table,
    pairwise: Table,
    refine: Vec<Table>,
}

/// A part of the file. Some have numbers that were set beside those that were fitted.
#[derive(Deserialize)]
pub struct Table {
    bias: f64,
    terms: Vec<Row>,
    #[serde(default)]
    pub threshold: f64,
    #[serde(default)]
    price: f64,
    #[serde(default)]
    slow: f64,
    /// What is drawn is sharpened: all weights are divided by it.
    #[serde(default = "unchanged")]
    temperature: f64,
}

fn unchanged() -> f64 {
    1.0
}

impl Table {
    pub fn terms<const N: usize>(&self, names: &[&str; N]) -> Result<Terms<N>, String> {
        let mut terms = Terms::of(self.bias, &self.terms, names)?;
        terms.bias /= self.temperature;
        terms.terms.iter_mut().for_each(|term| term.weight /= self.temperature);
        Ok(terms)
    }
}

impl TryFrom<File> for Weights {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        let File { far, segment_link: segment, novelty: gate, focus_bare, focus_text, pairwise, refine } = file;
        Ok(Self {
            far,
            segment_link: SegmentLink { slow: segment.slow, terms: segment.terms(&link::NAMES)? },
            novelty: NoveltyModel { threshold: gate.threshold, price: gate.price, terms: gate.terms(&novelty::NAMES)? },
            focus_bare: focus_bare.terms(&focus::NAMES)?,
            focus_text: focus_text.terms(&focus::NAMES)?,
            pairwise: pairwise.terms(&pairwise::NAMES)?,
            refine: refine.iter().map(|look| look.terms(&refine::NAMES)).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights: Weights = serde_json::from_str(Weights::WRITTEN).expect("the file is of the right form");
        assert!((0.0..=1.0).contains(&weights.novelty.threshold) && weights.novelty.price > 0.0);
        let is_fitted = |terms: &[crate::context::linear::Term]| {
            terms.iter().any(|term| term.weight != 0.0) && terms.iter().all(|term| term.low <= term.high)
        };
        let Weights { novelty, focus_bare, focus_text, pairwise, refine, .. } = &weights;
        assert!(is_fitted(&novelty.terms.terms) && is_fitted(&focus_bare.terms) && is_fitted(&focus_text.terms));
        assert!(is_fitted(&pairwise.terms) && refine.iter().all(|look| is_fitted(&look.terms)));
    }
}
