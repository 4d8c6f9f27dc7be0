//! Feature rows for fitting the weights, computed by the same code that picks messages for answers.
//!
//! Only `benches/fit` uses this module: it knows the right answers.

use std::sync::Arc;

pub use crate::context::focus::{NAMES as FOCUS_NAMES, WORDS as OF_BARE_TAG};
pub use crate::context::novelty::NAMES as NOVELTY_NAMES;
pub use crate::context::older_messages::query::{Candidate, OlderQuery};
pub use crate::context::older_messages::rerank::{
    ACCEPTED, FEATURES as BEYOND_FEATURES, NAMES as BEYOND_NAMES, RerankWeights, values as beyond_values,
};
pub use crate::context::pick::PickInput;
pub use crate::context::relatedness::pairwise::NAMES as PAIR_NAMES;
pub use crate::context::relatedness::refine::NAMES as REFINE_NAMES;
pub use crate::context::seed::SeedRule;
pub use crate::context::subjects::link::NAMES as SEGMENT_NAMES;
pub use crate::context::weights::FocusWeights;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::features::corpus::Corpus;
use crate::context::features::message::MessageFeatures;
use crate::context::focus::{SegmentedCorpus, features as focus_features};
use crate::context::index_set::IndexSet;
use crate::context::novelty::features as novelty_features;
use crate::context::pick::Candidates;
use crate::context::relatedness::pairwise::Pairwise;
use crate::context::relatedness::refine::Refinement;
use crate::context::replies::antecedents::ReplyContext;
use crate::context::replies::model::ReplyModel;
use crate::context::replies::sample::Forest;
use crate::context::threads::segments;
use crate::context::weights::Scorers;
use chime_core::StoredMessage;

/// A trigger with its candidates and their reply forests, from which feature rows are computed.
pub struct Example<'a> {
    asking: PickInput<'a>,
    candidates: Candidates<'a>,
    forests: Vec<Forest>,
    scorers: &'a Scorers,
}

/// Feature rows of a trigger. Indices count from the oldest candidate.
#[derive(Debug, Clone)]
pub struct TagRows {
    pub is_bare: bool,
    pub is_reply: bool,
    /// Features of the test for a new subject; empty if the test is not applied.
    pub novelty: Vec<f64>,
    /// The trigger's embedding; empty if none of its words is known.
    pub meaning: Vec<f32>,
    /// Features of each candidate as the trigger's target.
    pub targets: Vec<Vec<f64>>,
    /// For each requested candidate, its pair features with every candidate.
    pub pairs: Vec<Vec<Vec<f64>>>,
}

impl<'a> Example<'a> {
    /// Builds an example from a trigger and the `messages` before it, oldest first; `None` if there are no messages.
    pub fn of(
        asking: PickInput<'a>,
        messages: &'a [&'a StoredMessage],
        evidence: &'a CandidateFeatures,
        scorers: &'a Scorers,
    ) -> Option<Self> {
        let candidates = Candidates::of(messages, 0, evidence, &scorers.links);
        (!messages.is_empty()).then(|| Self { asking, forests: candidates.forests(), candidates, scorers })
    }

    /// Returns the features of the trigger, and the pair features of the candidates at the indices `of` with all
    /// candidates.
    pub fn tag_rows(&self, of: &[usize]) -> TagRows {
        let trigger = self.candidates.read(self.asking);
        let tag = self.candidates.tag(self.asking, &trigger);
        self.with_pairs(|scene, pairwise| {
            let all: Vec<usize> = (0..pairwise.count()).collect();
            let pairs = |target: &usize| pairwise.rows(*target, &all).iter().map(|row| row.to_vec()).collect();
            TagRows {
                is_bare: tag.is_bare,
                is_reply: tag.is_reply,
                novelty: novelty_features(&tag, &self.candidates.features).map_or_else(Vec::new, Vec::from),
                meaning: tag.meaning.clone().unwrap_or_default(),
                targets: focus_features(&tag, scene).iter().map(|row| row.to_vec()).collect(),
                pairs: of.iter().map(pairs).collect(),
            }
        })
    }

    /// Returns the training rows of a refining pass that comes after `looks` other passes: for each candidate at the
    /// indices `of`, the indices of the candidates compared with it and the features of each pair.
    pub fn refine_rows(&self, of: &[usize], looks: usize) -> Vec<Vec<(usize, Vec<f64>)>> {
        let weights = &self.scorers.subjects;
        self.with_pairs(|_, pairwise| {
            let mut refinement = Refinement::around(pairwise, of, &weights.pairwise);
            weights.refine.iter().take(looks).for_each(|weights| refinement.look(weights));
            let rows = |rows: Vec<(usize, [f64; _])>| rows.into_iter().map(|(place, row)| (place, row.to_vec()));
            refinement.rows().into_iter().map(|of_one| rows(of_one).collect()).collect()
        })
    }

    /// Calls `each` with the segments of each of the first `count` forests, oldest first, and the candidates in them.
    pub fn with_segments(&self, count: usize, mut each: impl FnMut(&Corpus<'_>, &[IndexSet])) {
        let (corpus, far) = (self.candidates.corpus(None), Some(self.scorers.subjects.far));
        for forest in self.forests.iter().take(count) {
            each(&corpus, &segments(&corpus, &forest.antecedents, far));
        }
    }

    fn with_pairs<R>(&self, then: impl FnOnce(&SegmentedCorpus<'_>, &Pairwise<'_>) -> R) -> R {
        let corpus = self.candidates.corpus(None);
        let partitioned = self.candidates.threads_in(&self.forests, &self.scorers.subjects);
        let scene = SegmentedCorpus::of(&corpus, &partitioned.segments);
        then(&scene, &Pairwise::new(&corpus, &scene.consensus, &partitioned))
    }
}

/// Calls `each` for every message before the one at `place`, newest first, with its distance and the factor products
/// that the weights of the reply model apply to. With `is_bare`, the words of the message at `place` are ignored.
pub fn link_rows(
    messages: &[Arc<MessageFeatures>],
    place: usize,
    is_bare: bool,
    model: &ReplyModel,
    each: impl FnMut(usize, Vec<f32>),
) {
    ReplyContext::of(&messages[..place], &messages[place]).rows(model, is_bare, each);
}
