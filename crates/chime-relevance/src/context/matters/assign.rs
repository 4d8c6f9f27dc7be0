//! Assigns the segments of each forest to matters.

use std::hash::BuildHasherDefault;

use crate::context::features::corpus::Corpus;
use crate::context::features::token::Quick;
use crate::context::index_set::IndexSet;
use crate::context::matters::link::{Scored, SegmentLink, bond};
use crate::context::matters::matter::Matter;
use crate::context::matters::segment::Segment;

/// Draws the matters of forests over one corpus. Most segments and pairs of segment and matter come again in other forests, so
/// both are computed once.
pub struct Assignment<'a> {
    corpus: &'a Corpus<'a>,
    segment_link: &'a SegmentLink,
    segments: Quick<IndexSet, (usize, Segment)>,
    /// Numbers of matters by their members, from 0.
    numbers: Quick<IndexSet, usize>,
    /// By the numbers of matter and segment.
    bonds: Quick<(usize, usize), Scored>,
}

impl<'a> Assignment<'a> {
    pub fn new(corpus: &'a Corpus<'a>, segment_link: &'a SegmentLink) -> Self {
        /// About as many as two hundred messages come to: growing a map copies it.
        const BONDS: usize = 4_096;
        let (segments, numbers) = (Quick::default(), Quick::default());
        let bonds = Quick::with_capacity_and_hasher(BONDS, BuildHasherDefault::default());
        Self { corpus, segment_link, segments, numbers, bonds }
    }

    /// The matters of one forest, the oldest first, from its `segments`; `chances` decide, one for each candidate.
    pub fn forest(&mut self, segments: &[IndexSet], chances: &[f32]) -> Vec<IndexSet> {
        let Self { corpus, segment_link, segments: known, numbers, bonds } = self;
        let mut matters: Vec<(usize, Matter)> = Vec::new();
        for members in segments {
            let next = known.len();
            let new = || (next, Segment::new(members.places().collect(), corpus));
            let (number, segment) = &*known.entry(*members).or_insert_with(new);
            let bond = |(of, matter): &(usize, Matter)| {
                let known = bonds.entry((*of, *number));
                (*known.or_insert_with(|| segment_link.scored(&bond(corpus, (segment, matter)))), matter.count)
            };
            let at_hand: Vec<(Scored, usize)> = matters.iter().map(bond).collect();
            let probabilities = likelihoods(segment_link.scores(&at_hand, corpus.slowness));
            let place = match drawn(&probabilities, f64::from(chances[segment.start()])) {
                Some(chosen) => {
                    matters[chosen].1.add(segment, corpus);
                    chosen
                }
                None => {
                    matters.push((0, Matter::begun_by(segment, corpus)));
                    matters.len() - 1
                }
            };
            let (of, matter) = &mut matters[place];
            let next = numbers.len();
            *of = *numbers.entry(matter.members).or_insert(next);
        }
        matters.iter().map(|(_, matter)| matter.members).collect()
    }
}

/// The probability of each matter to be continued by a segment, from scores; the rest to 1 is that the segment begins a new one.
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
