//! Samples reply forests of the candidates, and derives threads, segments and subjects from them.

use std::sync::Arc;

use crate::context::candidate_features::antecedents_by;
use crate::context::features::corpus::Corpus;
use crate::context::features::message::address;
use crate::context::index_set::IndexSet;
use crate::context::pick::Candidates;
use crate::context::replies::antecedents::Antecedents;
use crate::context::replies::sample::{Forest, forests};
use crate::context::subjects::assign::Assignment;
use crate::context::threads::{Partitioned, Partitions, segments};
use crate::context::weights::FocusWeights;

impl Partitioned {
    pub(super) fn of(corpus: &Corpus<'_>, forests: &[Forest], weights: &FocusWeights) -> Self {
        let cut = |far: Option<f64>| -> Vec<Vec<IndexSet>> {
            forests.iter().map(|forest| segments(corpus, &forest.antecedents, far)).collect()
        };
        let partitions =
            |sets: &[Vec<IndexSet>]| Partitions::of(sets.iter().map(Vec::as_slice), corpus.utterances.len());
        let segments = cut(Some(weights.far));
        let mut assignment = Assignment::new(corpus, &weights.segment_link);
        let subjects: Vec<Vec<IndexSet>> = segments
            .iter()
            .zip(forests)
            .map(|(segments, forest)| assignment.forest(segments, &forest.chances))
            .collect();
        Self { threads: partitions(&cut(None)), segments: partitions(&segments), subjects: partitions(&subjects) }
    }
}

impl Candidates<'_> {
    /// Splits the candidates into the threads, segments and subjects of `forests`.
    pub(super) fn threads_in(&self, forests: &[Forest], weights: &FocusWeights) -> Partitioned {
        Partitioned::of(&self.corpus(None), forests, weights)
    }

    pub(super) fn forests(&self) -> Vec<Forest> {
        let addresses = self.messages.iter().map(|stored| address(stored));
        forests(addresses.zip(self.antecedents().iter().map(Arc::as_ref)))
    }

    /// Returns the antecedents of each candidate, its reply link included.
    fn antecedents(&self) -> Vec<Arc<Antecedents>> {
        let antecedents = |((place, stored), parent): ((usize, &&chime_core::StoredMessage), &Option<usize>)| {
            let known = match self.evidence.antecedents.get(&address(stored)) {
                // Between older candidates and the newest ones messages are missing, so stored distances that cross
                // this gap are wrong.
                Some(known) if self.older > 0 => Arc::new(known.within(place.saturating_sub(self.older))),
                Some(known) => Arc::clone(known),
                None => Arc::new(antecedents_by(self.links, &self.features, place)),
            };
            if parent.is_some() { Arc::new(Arc::unwrap_or_clone(known).with_reply(*parent)) } else { known }
        };
        (0..).zip(self.messages).zip(&self.parents).map(antecedents).collect()
    }
}
