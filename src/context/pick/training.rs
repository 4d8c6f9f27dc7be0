//! What weights are fitted on, by the code that chooses: rows of features, and the weights as they are written.
//!
//! The daemon does not come here: `benches/fit` does, which knows the right answers.

use std::sync::Arc;

pub use crate::context::focus::{NAMES as FOCUS_NAMES, WORDS as OF_BARE_TAG};
pub use crate::context::matters::link::NAMES as SEGMENT_NAMES;
pub use crate::context::novelty::NAMES as NOVELTY_NAMES;
pub use crate::context::pick::Asking;
pub use crate::context::relatedness::pairwise::NAMES as PAIR_NAMES;
pub use crate::context::relatedness::refine::NAMES as REFINE_NAMES;
pub use crate::context::retrieval::query::{Candidate, Sought};
pub use crate::context::retrieval::rerank::{
    ACCEPTED, FEATURES as BEYOND_FEATURES, NAMES as BEYOND_NAMES, Weights as BeyondWeights, values as beyond_values,
};
pub use crate::context::seed::SeedRule;
pub use crate::context::weights::Weights;

use crate::context::evidence::Evidence;
use crate::context::features::message::MessageFeatures;
use crate::context::focus::{Scene, Tag, features as focus_features};
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
use crate::domain::StoredMessage;

/// A tag, and what the selector sees of it. Places count from the oldest candidate.
#[derive(Debug, Clone)]
pub struct TagRows {
    pub is_bare: bool,
    pub is_reply: bool,
    pub novelty: Vec<f64>,
    /// How likely it goes on from each candidate, by the links.
    pub links: Vec<f64>,
    /// The features of each candidate as what the tag points at.
    pub targets: Vec<Vec<f64>>,
    /// For each of the candidates that were asked about, the features of all candidates as its kin.
    pub kin: Vec<Vec<Vec<f64>>>,
}

/// The rows of a tag, its candidates the last of `conversation` (oldest first); `kin_of` are places of candidates. None
/// where there are no candidates.
pub fn tag_rows(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    kin_of: &[usize],
) -> Option<TagRows> {
    with_candidates(asking, conversation, evidence, scorers, |candidates, tag, forests| {
        let corpus = candidates.corpus(None);
        let sampled = candidates.foreseen_in(forests, &scorers.matters);
        let scene = Scene::of(&corpus, &sampled.partitioned.segments);
        let pairwise = Pairwise::new(&corpus, &scene.consensus, &sampled.partitioned);
        let all: Vec<usize> = (0..pairwise.count()).collect();
        let kin = |target: &usize| pairwise.rows(*target, &all).iter().map(|row| row.to_vec()).collect();
        TagRows {
            is_bare: tag.is_bare,
            is_reply: tag.is_reply,
            novelty: novelty_features(&tag, candidates.readings).to_vec(),
            targets: focus_features(&tag, &scene).iter().map(|row| row.to_vec()).collect(),
            links: tag.links,
            kin: kin_of.iter().map(kin).collect(),
        }
    })
}

/// What a later look is fitted on, with `looks` of them before it: for each of `kin_of`, the places of the candidates that
/// come into question and their features as its kin.
pub fn refine_rows(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    (kin_of, looks): (&[usize], usize),
) -> Vec<Vec<(usize, Vec<f64>)>> {
    let of_all = with_candidates(asking, conversation, evidence, scorers, |candidates, _, forests| {
        let (corpus, weights) = (candidates.corpus(None), &scorers.matters);
        let sampled = candidates.foreseen_in(forests, weights);
        let scene = Scene::of(&corpus, &sampled.partitioned.segments);
        let pairwise = Pairwise::new(&corpus, &scene.consensus, &sampled.partitioned);
        let mut refinement = Refinement::around(&pairwise, kin_of, &weights.pairwise);
        weights.refine.iter().take(looks).for_each(|weights| refinement.look(weights));
        let rows = |rows: Vec<(usize, [f64; _])>| rows.into_iter().map(|(place, row)| (place, row.to_vec())).collect();
        refinement.rows().into_iter().map(rows).collect()
    });
    of_all.unwrap_or_default()
}

/// What the linking of segments is fitted on: how the segments of the last of `conversation` take up matters in the first `count` forests.
/// `truth` is what each candidate is about.
pub fn segment_lessons(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    (truth, count): (&[Option<usize>], usize),
) -> Vec<Lesson> {
    let of_all = with_candidates(asking, conversation, evidence, scorers, |candidates, _, forests| {
        let (corpus, far) = (candidates.corpus(None), Some(scorers.matters.far));
        let segments = forests.iter().take(count).map(|forest| segments(&corpus, &forest.antecedents, far));
        segments.flat_map(|segments| lessons(&corpus, &segments, truth)).collect()
    });
    of_all.unwrap_or_default()
}

fn with_candidates<R>(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    then: impl FnOnce(&Candidates<'_>, Tag<'_>, &[Forest]) -> R,
) -> Option<R> {
    if conversation.is_empty() {
        return None;
    }
    let readings: Vec<Arc<MessageFeatures>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let candidates = Candidates::of((conversation, asking.older), &readings, evidence, &scorers.links);
    let trigger = candidates.read(asking);
    Some(then(&candidates, candidates.tag(asking, &trigger), &candidates.drawn()))
}

/// What the weights of the links are applied to, of each message before the one at `place`, newest first: the distance and
/// the row. With `is_bare`, as if the message said nothing.
pub fn link_rows(
    readings: &[Arc<MessageFeatures>],
    place: usize,
    is_bare: bool,
    model: &ReplyModel,
    each: impl FnMut(usize, Vec<f32>),
) {
    Past::of(&readings[..place], &readings[place]).rows(model, is_bare, each);
}
