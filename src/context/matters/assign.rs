//! One forest after the other: its segments, and which of them take up the same matter.

use crate::context::features::corpus::Corpus;
use crate::context::features::token::Quick;
use crate::context::index_set::IndexSet;
use crate::context::matters::link::{Bond, SegmentLink, bond, rows};
use crate::context::matters::matter::Matter;
use crate::context::matters::segment::Segment;

/// Draws the matters of forests that share a corpus. Most segments, and what they have in common with matters, come again in
/// other forests: both are kept.
pub struct Assignment<'a> {
    corpus: &'a Corpus<'a>,
    segment_link: &'a SegmentLink,
    segments: Quick<IndexSet, Segment>,
    /// By the members of segment and matter.
    bonds: Quick<(IndexSet, IndexSet), Bond>,
}

impl<'a> Assignment<'a> {
    pub fn new(corpus: &'a Corpus<'a>, segment_link: &'a SegmentLink) -> Self {
        Self { corpus, segment_link, segments: Quick::default(), bonds: Quick::default() }
    }

    /// The matters of one forest, the oldest first, from its `segments`; `chances` decide, one for each candidate.
    pub fn forest(&mut self, segments: &[IndexSet], chances: &[f32]) -> Vec<IndexSet> {
        let Self { corpus, segment_link, segments: known, bonds } = self;
        let mut matters: Vec<Matter> = Vec::new();
        for members in segments {
            let segment = &*known.entry(*members).or_insert_with(|| Segment::new(members.places().collect(), corpus));
            let bond = |matter: &Matter| {
                let known = bonds.entry((*members, matter.members));
                (*known.or_insert_with(|| bond(corpus, (segment, matter))), matter.count)
            };
            let at_hand: Vec<(Bond, usize)> = matters.iter().map(bond).collect();
            let probabilities = likelihoods(segment_link, corpus.slowness, &at_hand);
            match drawn(&probabilities, f64::from(chances[segment.start()])) {
                Some(chosen) => matters[chosen].add(segment, corpus),
                None => matters.push(Matter::begun_by(segment, corpus)),
            }
        }
        matters.iter().map(|matter| matter.members).collect()
    }
}

/// How likely a segment takes up each of the matters; what is missing to 1 is that it begins a new one.
fn likelihoods(segment_link: &SegmentLink, slowness: f64, at_hand: &[(Bond, usize)]) -> Vec<f64> {
    let slow = segment_link.slow * slowness;
    let mut scores: Vec<f64> = rows(at_hand).map(|row| segment_link.terms.score(&row) + slow).collect();
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
