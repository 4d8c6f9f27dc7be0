//! Strands as samples: 48 ways in which the messages may hang together.
//!
//! In each *world* every message draws one antecedent from its distribution, or starts something new. A strand that holds
//! in most worlds is sure; one that holds in a few is a guess with its right weight. The draws are hashes of the message,
//! so that the same chat gives the same worlds.

use crate::context::links::Antecedents;
use crate::domain::{ChatId, MessageId};

/// Measured: 16 lose half a point, 128 gain nothing.
pub const WORLDS: usize = 48;
/// Strands that one world may offer for a message, the newest first.
const PER_WORLD: usize = 12;
/// Links weaker than this offer no strand.
const WEAK: f32 = 0.002;

/// For every candidate its strand in every world. A strand is named by the place of its first message; places below
/// zero are messages before the candidates.
#[derive(Debug, Clone, Default)]
pub struct Worlds {
    labels: Vec<[i32; WORLDS]>,
}

/// A set of candidates by their places.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceSet(Vec<u64>);

/// A set of messages that the trigger may be about, and how likely it is that one.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    pub weight: f32,
    pub members: PlaceSet,
}

impl Worlds {
    /// Draws the worlds of `candidates`, oldest first, each with its antecedents.
    pub fn draw<'a>(candidates: impl IntoIterator<Item = ((ChatId, MessageId), &'a Antecedents)>) -> Self {
        let mut labels: Vec<[i32; WORLDS]> = Vec::new();
        for (place, (id, antecedents)) in candidates.into_iter().enumerate() {
            let here = i32::try_from(place).unwrap_or(i32::MAX);
            let mut own = [here; WORLDS];
            for (world, label) in own.iter_mut().enumerate() {
                if let Some(distance) = drawn(antecedents, chance(id, world)) {
                    *label = match place.checked_sub(distance) {
                        Some(antecedent) => labels[antecedent][world],
                        None => here - i32::try_from(distance).unwrap_or(0),
                    };
                }
            }
            labels.push(own);
        }
        Self { labels }
    }

    /// The strands that a message with these antecedents may belong to, with weights that sum to 1.
    pub fn hypotheses(&self, antecedents: &Antecedents) -> Vec<Hypothesis> {
        let mut found: Vec<Hypothesis> = Vec::new();
        let mut by_newest = antecedents.0.clone();
        by_newest.sort_by_key(|link| link.distance);
        for world in 0..WORLDS {
            for (label, weight) in self.offered(world, &by_newest) {
                let members = self.members(world, label);
                match found.iter_mut().find(|known| known.members == members) {
                    Some(known) => known.weight += weight,
                    None => found.push(Hypothesis { weight, members }),
                }
            }
        }
        let sum: f32 = found.iter().map(|hypothesis| hypothesis.weight).sum();
        for hypothesis in &mut found {
            hypothesis.weight /= sum.max(f32::MIN_POSITIVE);
        }
        found
    }

    /// The strands of one world that the links lead to, each with the sum of their probabilities.
    fn offered(&self, world: usize, links: &[crate::context::links::Link]) -> Vec<(i32, f32)> {
        let mut offered: Vec<(i32, f32)> = Vec::new();
        for link in links.iter().filter(|link| link.probability >= WEAK) {
            let Some(place) = self.labels.len().checked_sub(link.distance) else { continue };
            let label = self.labels[place][world];
            let is_full = offered.len() == PER_WORLD;
            match offered.iter_mut().find(|(known, _)| *known == label) {
                Some((_, weight)) => *weight += link.probability,
                None if is_full => {}
                None => offered.push((label, link.probability)),
            }
        }
        offered
    }

    fn members(&self, world: usize, label: i32) -> PlaceSet {
        let mut members = PlaceSet::empty(self.labels.len());
        for (place, labels) in self.labels.iter().enumerate() {
            if labels[world] == label {
                members.insert(place);
            }
        }
        members
    }
}

impl PlaceSet {
    fn empty(places: usize) -> Self {
        Self(vec![0; places.div_ceil(64)])
    }

    fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub fn contains(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit as usize)
            })
        })
    }
}

/// The antecedent that `chance` draws; none where the message starts something new.
fn drawn(antecedents: &Antecedents, chance: f32) -> Option<usize> {
    let mut below = 0.0;
    antecedents
        .0
        .iter()
        .find(|link| {
            below += link.probability;
            chance < below
        })
        .map(|link| link.distance)
}

/// A number from 0 to 1 that belongs to a message and a world.
fn chance((chat, message): (ChatId, MessageId), world: usize) -> f32 {
    let mixed = [chat.0.cast_unsigned(), message.0.cast_unsigned(), world as u64]
        .into_iter()
        .fold(0x9e37_79b9_7f4a_7c15, |state, part| mix(state ^ part));
    // 24 bits are what an f32 holds.
    (mixed >> 40) as f32 / (1_u64 << 24) as f32
}

/// The finaliser of splitmix64.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
