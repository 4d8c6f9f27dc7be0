//! Rows of features that the weights are fitted on, made by the code that picks.
//!
//! For `benches/fit`, which knows the right answers; nothing in the daemon uses it.

use std::sync::Arc;

pub use crate::context::focus::{NAMES as FOCUS_NAMES, WORDS as OF_BARE_TAG};
pub use crate::context::matters::link::NAMES as SEGMENT_NAMES;
pub use crate::context::novelty::NAMES as NOVELTY_NAMES;
pub use crate::context::pick::Asking;
pub use crate::context::relatedness::pairwise::NAMES as PAIR_NAMES;
pub use crate::context::relatedness::refine::NAMES as REFINE_NAMES;
pub use crate::context::retrieval::query::{Candidate, OlderQuery};
pub use crate::context::retrieval::rerank::{
    ACCEPTED, FEATURES as BEYOND_FEATURES, NAMES as BEYOND_NAMES, Weights as BeyondWeights, values as beyond_values,
};
pub use crate::context::seed::SeedRule;
pub use crate::context::weights::Weights;

use crate::context::evidence::Evidence;
use crate::context::features::message::MessageFeatures;
use crate::context::focus::{Scene, features as focus_features};
use crate::context::matters::lessons::{Lesson, lessons};
use crate::context::novelty::features as novelty_features;
use crate::context::pick::Candidates;
use crate::context::relatedness::pairwise::Pairwise;
use crate::context::relatedness::refine::Refinement;
use crate::context::replies::antecedents::Past;
use crate::context::replies::model::ReplyModel;
use crate::context::replies::sample::Forest;
use crate::context::strands::segments;
use crate::context::weights::Scorers;
use chime_core::StoredMessage;

/// A tag with its candidates, made ready for reading rows of features off it.
pub struct Example<'a> {
    asking: Asking<'a>,
    candidates: Candidates<'a>,
    forests: Vec<Forest>,
    scorers: &'a Scorers,
}

/// The features of a tag. Places count from the oldest candidate.
#[derive(Debug, Clone)]
pub struct TagRows {
    pub is_bare: bool,
    pub is_reply: bool,
    pub novelty: Vec<f64>,
    /// The features of each candidate as what the tag points at.
    pub targets: Vec<Vec<f64>>,
    /// For each of the candidates that were asked about, the pair features of all candidates with it.
    pub pairs: Vec<Vec<Vec<f64>>>,
}

impl<'a> Example<'a> {
    /// `messages` are the candidates, oldest first; none where there are none.
    pub fn of(
        asking: Asking<'a>,
        messages: &'a [&'a StoredMessage],
        evidence: &'a Evidence,
        scorers: &'a Scorers,
    ) -> Option<Self> {
        let candidates = Candidates::of((messages, 0), evidence, &scorers.links);
        (!messages.is_empty()).then(|| Self { asking, forests: candidates.forests(), candidates, scorers })
    }

    /// The features of the tag; those of pairs with the candidates at the places `of`.
    pub fn tag_rows(&self, of: &[usize]) -> TagRows {
        let trigger = self.candidates.read(self.asking);
        let tag = self.candidates.tag(self.asking, &trigger);
        self.with_pairs(|scene, pairwise| {
            let all: Vec<usize> = (0..pairwise.count()).collect();
            let pairs = |target: &usize| pairwise.rows(*target, &all).iter().map(|row| row.to_vec()).collect();
            TagRows {
                is_bare: tag.is_bare,
                is_reply: tag.is_reply,
                novelty: novelty_features(&tag, &self.candidates.features).to_vec(),
                targets: focus_features(&tag, scene).iter().map(|row| row.to_vec()).collect(),
                pairs: of.iter().map(pairs).collect(),
            }
        })
    }

    /// What a later look is fitted on, with `looks` of them before it: for each of the candidates at the places `of`, the places
    /// of those that are compared with it, and the features of each pair.
    pub fn refine_rows(&self, of: &[usize], looks: usize) -> Vec<Vec<(usize, Vec<f64>)>> {
        let weights = &self.scorers.matters;
        self.with_pairs(|_, pairwise| {
            let mut refinement = Refinement::around(pairwise, of, &weights.pairwise);
            weights.refine.iter().take(looks).for_each(|weights| refinement.look(weights));
            let rows = |rows: Vec<(usize, [f64; _])>| rows.into_iter().map(|(place, row)| (place, row.to_vec()));
            refinement.rows().into_iter().map(|of_one| rows(of_one).collect()).collect()
        })
    }

    /// What the linking of segments is fitted on: how segments take up matters in the first `count` forests. `truth` is the
    /// matter of each candidate, where it is known.
    pub fn segment_lessons(&self, truth: &[Option<usize>], count: usize) -> Vec<Lesson> {
        let (corpus, far) = (self.candidates.corpus(None), Some(self.scorers.matters.far));
        let segments = self.forests.iter().take(count).map(|forest| segments(&corpus, &forest.antecedents, far));
        segments.flat_map(|segments| lessons(&corpus, &segments, truth)).collect()
    }

    fn with_pairs<R>(&self, then: impl FnOnce(&Scene<'_>, &Pairwise<'_>) -> R) -> R {
        let corpus = self.candidates.corpus(None);
        let sampled = self.candidates.strands_in(&self.forests, &self.scorers.matters);
        let scene = Scene::of(&corpus, &sampled.partitioned.segments);
        then(&scene, &Pairwise::new(&corpus, &scene.consensus, &sampled.partitioned))
    }
}

/// The products that the weights of the reply model are applied to, for each message before the one at `place`, newest first,
/// with its distance in messages. With `is_bare`, as if the message said nothing.
pub fn link_rows(
    messages: &[Arc<MessageFeatures>],
    place: usize,
    is_bare: bool,
    model: &ReplyModel,
    each: impl FnMut(usize, Vec<f32>),
) {
    Past::of(&messages[..place], &messages[place]).rows(model, is_bare, each);
}
