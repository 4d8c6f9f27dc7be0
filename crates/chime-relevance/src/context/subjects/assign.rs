//! Assigns the segments of each forest to subjects.

use crate::context::features::corpus::Corpus;
use crate::context::features::token::Quick;
use crate::context::index_set::IndexSet;
use crate::context::subjects::link::{Scored, SegmentLink, segment_pair};
use crate::context::subjects::segment::Segment;
use crate::context::subjects::subject::LinkedSubject;

/// Assigns segments to subjects at random, for several forests of one corpus. Segments and pairs of segment and subject
/// occur in more than one forest, so both are cached.
pub struct Assignment<'a> {
    corpus: &'a Corpus<'a>,
    segment_link: &'a SegmentLink,
    segments: Quick<IndexSet, (usize, Segment)>,
    /// Number of each subject by its messages, from 0 in the order of first occurrence.
    numbers: Quick<IndexSet, usize>,
    /// Cached features of pairs, by the numbers of subject and segment.
    bonds: Quick<(usize, usize), Scored>,
}

impl<'a> Assignment<'a> {
    pub fn new(corpus: &'a Corpus<'a>, segment_link: &'a SegmentLink) -> Self {
        /// Typical number of pairs for two hundred messages. The memory is reserved at once, since growing a map copies
        /// it.
        const BONDS: usize = 4_096;
        let (segments, numbers) = (Quick::default(), Quick::default());
        let bonds = Quick::with_capacity_and_hasher(BONDS, Default::default());
        Self { corpus, segment_link, segments, numbers, bonds }
    }

    /// Assigns the `segments` of one forest, oldest first, to subjects, and returns the messages of each subject.
    /// `chances` holds a random number from 0 to 1 for each candidate; the number of a segment's first message decides
    /// its subject.
    pub fn forest(&mut self, segments: &[IndexSet], chances: &[f32]) -> Vec<IndexSet> {
        let Self { corpus, segment_link, segments: known, numbers, bonds } = self;
        let mut subjects: Vec<(usize, LinkedSubject)> = Vec::new();
        for members in segments {
            let next = known.len();
            let new = || (next, Segment::new(members.places().collect(), corpus));
            let (number, segment) = &*known.entry(*members).or_insert_with(new);
            let segment_pair = |(of, subject): &(usize, LinkedSubject)| {
                let known = bonds.entry((*of, *number));
                (*known.or_insert_with(|| segment_link.scored(&segment_pair(corpus, segment, subject))), subject.count)
            };
            let at_hand: Vec<(Scored, usize)> = subjects.iter().map(segment_pair).collect();
            let probabilities = likelihoods(segment_link.scores(&at_hand, corpus.slowness));
            let place = match drawn(&probabilities, f64::from(chances[segment.start()])) {
                Some(chosen) => {
                    subjects[chosen].1.add(segment, corpus);
                    chosen
                }
                None => {
                    subjects.push((0, LinkedSubject::begun_by(segment, corpus)));
                    subjects.len() - 1
                }
            };
            let (of, subject) = &mut subjects[place];
            let next = numbers.len();
            *of = *numbers.entry(subject.members).or_insert(next);
        }
        subjects.iter().map(|(_, subject)| subject.members).collect()
    }
}

/// Converts scores to the probability that a segment continues each subject. The difference between 1 and their sum is
/// the probability that the segment begins a new subject.
fn likelihoods(mut scores: Vec<f64>) -> Vec<f64> {
    let highest = scores.iter().copied().fold(0.0, f64::max);
    let sum = (-highest).exp() + scores.iter().map(|score| (score - highest).exp()).sum::<f64>();
    scores.iter_mut().for_each(|score| *score = (*score - highest).exp() / sum);
    scores
}

fn drawn(probabilities: &[f64], chance: f64) -> Option<usize> {
    let mut below = 0.0;
    probabilities.iter().position(|probability| {
        below += probability;
        chance < below
    })
}
