//! What is worked out before anybody tags: how the candidates hang together by themselves, whoever asks about them. It is
//! two fifths of all that a tag takes.

use std::sync::Arc;

use crate::context::evidence::{Evidence, antecedents_by};
use crate::context::features::corpus::Corpus;
use crate::context::features::message::{MessageFeatures, address};
use crate::context::index_set::IndexSet;
use crate::context::matters::assign::Assignment;
use crate::context::pick::Candidates;
use crate::context::replies::antecedents::Antecedents;
use crate::context::replies::sample::{Forest, forests};
use crate::context::strands::{Partitioned, Partitions, SampledStrands, segments};
use crate::context::weights::Scorers;
use crate::context::weights::Weights;
use crate::domain::StoredMessage;

/// What the next tag in a `conversation` (oldest first) finds. The last
/// [`WINDOW`](crate::context::features::rhythm::WINDOW) messages are its candidates.
pub fn sample_strands(conversation: &[&StoredMessage], evidence: &Evidence, scorers: &Scorers) -> SampledStrands {
    let readings: Vec<Arc<MessageFeatures>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let candidates = Candidates::of((conversation, 0), &readings, evidence, &scorers.links);
    candidates.foreseen_in(&candidates.drawn(), &scorers.matters)
}

impl Candidates<'_> {
    /// How the candidates hang together in `forests`.
    pub(super) fn foreseen_in(&self, forests: &[Forest], weights: &Weights) -> SampledStrands {
        let candidates = self.messages.iter().map(|stored| address(stored)).collect();
        SampledStrands { candidates, partitioned: Partitioned::of(&self.corpus(None), forests, weights) }
    }
}

impl Partitioned {
    pub(super) fn of(corpus: &Corpus<'_>, forests: &[Forest], weights: &Weights) -> Self {
        let cut = |far: Option<f64>| -> Vec<Vec<IndexSet>> {
            forests.iter().map(|forest| segments(corpus, &forest.antecedents, far)).collect()
        };
        let partitions =
            |sets: &[Vec<IndexSet>]| Partitions::of(sets.iter().map(Vec::as_slice), corpus.utterances.len());
        let segments = cut(Some(weights.far));
        let mut assignment = Assignment::new(corpus, &weights.segment_link);
        let matters: Vec<Vec<IndexSet>> = segments
            .iter()
            .zip(forests)
            .map(|(segments, forest)| assignment.forest(segments, &forest.chances))
            .collect();
        Self { strands: partitions(&cut(None)), segments: partitions(&segments), matters: partitions(&matters) }
    }
}

impl Candidates<'_> {
    /// Sampled reply forests of the candidates.
    pub(super) fn drawn(&self) -> Vec<Forest> {
        let addresses = self.messages.iter().map(|stored| address(stored));
        forests(addresses.zip(self.rows().iter().map(Arc::as_ref)))
    }

    /// Where each goes on from.
    fn rows(&self) -> Vec<Arc<Antecedents>> {
        let first = self.of_all.len() - self.messages.len();
        let row = |((place, stored), parent): ((usize, &&StoredMessage), &Option<usize>)| {
            let known = match self.evidence.antecedents.get(&address(stored)) {
                // What was left out between the older candidates and the others is no antecedent here.
                Some(known) if self.older > 0 => Arc::new(known.within(place.saturating_sub(self.older))),
                Some(known) => Arc::clone(known),
                None => Arc::new(antecedents_by(self.links, self.of_all, place)),
            };
            match parent {
                Some(distance) => Arc::new(Antecedents::clone(&known).with_reply(*distance)),
                None => known,
            }
        };
        (first..).zip(self.messages).zip(&self.parents).map(row).collect()
    }
}
