//! One forest after the other: its segments, and which of them take up the same matter.

use crate::context::features::corpus::Corpus;
use crate::context::features::token::Quick;
use crate::context::index_set::IndexSet;
use crate::context::matters::link::SegmentLink;
use crate::context::matters::link::{Bond, bond, rows};
use crate::context::matters::matter::Matter;
use crate::context::matters::segment::Segment;

/// Bonds that a window usually has: so many find room without being moved.
const BONDS: usize = 1024;

/// Draws the matters of forests that share a corpus.
pub struct Assignment<'a> {
    corpus: &'a Corpus<'a>,
    segment_link: &'a SegmentLink,
    /// The segments of all forests so far: most of them come again.
    segments: Vec<Segment>,
    known: Quick<IndexSet, usize>,
    /// The matters of the forest that was drawn last, and room for more.
    matters: Vec<Matter>,
    /// Numbers of the matters of all forests so far.
    numbers: Quick<IndexSet, u32>,
    /// By the numbers of segment and matter.
    bonds: Quick<u64, Bond>,
}

impl<'a> Assignment<'a> {
    pub fn new(corpus: &'a Corpus<'a>, segment_link: &'a SegmentLink) -> Self {
        Self {
            corpus,
            segment_link,
            segments: Vec::new(),
            known: Quick::default(),
            matters: Vec::new(),
            numbers: Quick::default(),
            bonds: Quick::with_capacity_and_hasher(BONDS, Default::default()),
        }
    }

    /// The matters of one forest, the oldest first, from its `segments`; `chances` decide, one for each candidate.
    pub fn forest(&mut self, segments: &[IndexSet], chances: &[f32]) -> Vec<IndexSet> {
        let mut count = 0;
        for members in segments {
            let number = self.segment(*members);
            let probabilities = self.likelihoods(number, count);
            let segment = &self.segments[number];
            let chosen = drawn(&probabilities, f64::from(chances[segment.start()])).unwrap_or(count);
            if chosen == self.matters.len() {
                self.matters.push(Matter::default());
            }
            if chosen == count {
                self.matters[chosen].clear(self.corpus);
                count += 1;
            }
            let matter = &mut self.matters[chosen];
            matter.add(segment, self.corpus);
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            matter.number = *self.numbers.entry(matter.members).or_insert(next);
        }
        self.matters[..count].iter().map(|matter| matter.members).collect()
    }

    /// The number of a segment.
    fn segment(&mut self, members: IndexSet) -> usize {
        *self.known.entry(members).or_insert_with(|| {
            self.segments.push(Segment::new(members.places().collect(), self.corpus));
            self.segments.len() - 1
        })
    }

    /// How likely a segment takes up each of the first `count` matters; what is missing to 1 is that it begins a new one.
    fn likelihoods(&mut self, segment: usize, count: usize) -> Vec<f64> {
        let Self { corpus, segment_link, segments, matters, bonds, .. } = self;
        let at_hand = matters[..count].iter().map(|matter| {
            let known = bonds.entry((segment as u64) << 32 | u64::from(matter.number));
            (*known.or_insert_with(|| bond(corpus, (&segments[segment], matter))), matter.count)
        });
        let at_hand: Vec<(Bond, usize)> = at_hand.collect();
        let slow = segment_link.slow * corpus.slowness;
        let mut scores: Vec<f64> = rows(&at_hand).map(|row| segment_link.terms.score(&row) + slow).collect();
        let highest = scores.iter().copied().fold(0.0, f64::max);
        let sum = (-highest).exp() + scores.iter().map(|score| (score - highest).exp()).sum::<f64>();
        scores.iter_mut().for_each(|score| *score = (*score - highest).exp() / sum);
        scores
    }
}

fn drawn(probabilities: &[f64], chance: f64) -> Option<usize> {
    let mut below = 0.0;
    probabilities.iter().position(|probability| {
        below += probability;
        chance < below
    })
}
