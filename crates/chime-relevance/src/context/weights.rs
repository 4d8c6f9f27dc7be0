//! The fitted weights of the picker.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::context::focus;
use crate::context::linear::Terms;
use crate::context::novelty::NoveltyModel;
use crate::context::relatedness::{pairwise, refine};
use crate::context::replies::model::ReplyModel;
use crate::context::subjects::link::SegmentLink;

/// Weights fitted on the labelled chats of `data/chats` by `cargo bench --bench fit`; published figures were measured
/// on other chats. Two were set by hand: `far` and the threshold of novelty.
#[derive(Debug, Clone, Deserialize)]
pub struct FocusWeights {
    /// Seconds of silence after which a thread is cut into segments, unless a reply link connects both sides.
    pub far: f64,
    pub segment_link: SegmentLink,
    pub novelty: NoveltyModel,
    /// Weights for triggers whose words say too little.
    pub focus_bare: Terms<{ focus::FEATURES }>,
    /// Weights for all other triggers.
    pub focus_text: Terms<{ focus::FEATURES }>,
    pub pairwise: Terms<{ pairwise::FEATURES }>,
    /// Weights of each refining pass, in order.
    pub refine: Vec<Terms<{ refine::FEATURES }>>,
}

impl FocusWeights {
    /// Weights inside the program, as JSON.
    pub const WRITTEN: &str = include_str!("weights.json");
}

/// All fitted weights: those inside the program or, during fitting, others.
#[derive(Debug, Clone)]
pub struct Scorers {
    pub links: ReplyModel,
    pub subjects: FocusWeights,
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and tests read them")]
static SHIPPED: LazyLock<Arc<Scorers>> = LazyLock::new(|| {
    Arc::new(Scorers::read(ReplyModel::WRITTEN, FocusWeights::WRITTEN).expect("files of the right form"))
});

impl Scorers {
    pub fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED)
    }

    /// Parses the weights from the contents of the two files.
    pub fn read(links: &str, subjects: &str) -> serde_json::Result<Self> {
        Ok(Self { links: serde_json::from_str(links)?, subjects: serde_json::from_str(subjects)? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::context::{novelty, subjects::link};

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights: FocusWeights = serde_json::from_str(FocusWeights::WRITTEN).expect("the file is of the right form");
        assert!((0.0..=1.0).contains(&weights.novelty.threshold));
        let is_fitted = |terms: &[crate::context::linear::Term]| {
            terms.iter().any(|term| term.weight != 0.0) && terms.iter().all(|term| term.low <= term.high)
        };
        let FocusWeights { novelty, focus_bare, focus_text, pairwise, refine, .. } = &weights;
        assert!(is_fitted(&novelty.terms.terms) && is_fitted(&focus_bare.terms) && is_fitted(&focus_text.terms));
        assert!(is_fitted(&pairwise.terms) && refine.iter().all(|look| is_fitted(&look.terms)));
    }

    #[test]
    fn terms_are_written_in_the_order_of_the_features() {
        let written: Value = serde_json::from_str(FocusWeights::WRITTEN).expect("JSON");
        let check = |part: &Value, names: &[&str]| {
            let terms = part["terms"].as_array().expect("terms").iter();
            assert_eq!(terms.map(|term| &term["name"]).collect::<Vec<_>>(), names);
        };
        check(&written["segment_link"], &link::NAMES);
        check(&written["novelty"], &novelty::NAMES);
        check(&written["focus_bare"], &focus::NAMES[..focus::WORDS]);
        check(&written["focus_text"], &focus::NAMES);
        check(&written["pairwise"], &pairwise::NAMES);
        written["refine"].as_array().expect("looks").iter().for_each(|look| check(look, &refine::NAMES));
    }
}
