//! Strands as samples: 48 ways in which the messages may hang together.
//!
//! In each *world* every message draws one antecedent from its distribution, or starts something new. A strand that holds
//! in most worlds is sure; one that holds in a few is a guess with its right weight. The draws are hashes of the message,
//! so that the same chat gives the same worlds.

use std::collections::BTreeMap;

use crate::context::links::{Antecedents, Link};
use crate::domain::{ChatId, MessageId};

/// Measured: 16 lose half a point, 128 gain nothing.
pub const WORLDS: usize = 48;
/// Strands that one world may offer for a message, the newest first.
const PER_WORLD: usize = 12;
/// Links weaker than this offer no strand.
const WEAK: f32 = 0.002;

/// What every candidate goes on from, in every world.
#[derive(Debug, Clone, Default)]
pub struct Worlds {
    ids: Vec<(ChatId, MessageId)>,
    /// How many messages back; none where it starts something new.
    distances: Vec<[Option<usize>; WORLDS]>,
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
        let mut worlds = Self::default();
        for (id, antecedents) in candidates {
            worlds.ids.push(id);
            worlds.distances.push(std::array::from_fn(|world| drawn(antecedents, chance(id, world))));
        }
        worlds
    }

    /// How many candidates there are.
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// The place of each candidate's antecedent in one world, where that is a candidate too.
    pub fn antecedents(&self, world: usize) -> Vec<Option<usize>> {
        let from = |(place, distances): (usize, &[Option<usize>; WORLDS])| place.checked_sub(distances[world]?);
        self.distances.iter().enumerate().map(from).collect()
    }

    /// Chances of the candidates for what is drawn after their antecedents.
    pub fn chances(&self, world: usize) -> Vec<f32> {
        self.ids.iter().map(|id| chance(*id, WORLDS + world)).collect()
    }

    /// The strands that a message with these antecedents may belong to. The weights sum to how likely it is any of them.
    pub fn hypotheses(&self, antecedents: &Antecedents) -> Hypotheses {
        let mut by_newest = antecedents.0.clone();
        by_newest.sort_by_key(|link| link.distance);
        let mut hypotheses = Hypotheses::default();
        for world in 0..WORLDS {
            let labels = self.labels(world);
            for (label, weight) in offered(&labels, &by_newest) {
                hypotheses.add(weight / WORLDS as f32, members(&labels, |other| *other == label));
            }
        }
        hypotheses
    }

    /// The strand of each candidate in one world, named by the place of its first message. Places below zero are messages
    /// before the candidates.
    fn labels(&self, world: usize) -> Vec<i32> {
        let mut labels: Vec<i32> = Vec::with_capacity(self.count());
        for (place, distances) in self.distances.iter().enumerate() {
            let here = i32::try_from(place).unwrap_or(i32::MAX);
            labels.push(match distances[world] {
                None => here,
                Some(distance) => match place.checked_sub(distance) {
                    Some(antecedent) => labels[antecedent],
                    None => here - i32::try_from(distance).unwrap_or(0),
                },
            });
        }
        labels
    }
}

/// Sets of messages that the trigger may be about, each once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hypotheses {
    weights: BTreeMap<PlaceSet, f32>,
}

impl Hypotheses {
    pub fn add(&mut self, weight: f32, members: PlaceSet) {
        *self.weights.entry(members).or_default() += weight;
    }

    /// How likely any of them is right.
    pub fn mass(&self) -> f32 {
        self.weights.values().sum()
    }

    /// With weights that sum to 1.
    pub fn normalised(self) -> Vec<Hypothesis> {
        let mass = self.mass().max(f32::MIN_POSITIVE);
        self.weights.into_iter().map(|(members, weight)| Hypothesis { weight: weight / mass, members }).collect()
    }
}

/// The candidates that `belongs` picks by their label.
pub fn members<L>(labels: &[L], belongs: impl Fn(&L) -> bool) -> PlaceSet {
    let mut members = PlaceSet::empty(labels.len());
    labels.iter().enumerate().filter(|(_, label)| belongs(label)).for_each(|(place, _)| members.insert(place));
    members
}

/// The strands of one world that the links lead to, each with the sum of their probabilities.
fn offered(labels: &[i32], links: &[Link]) -> Vec<(i32, f32)> {
    let mut offered: Vec<(i32, f32)> = Vec::new();
    for link in links.iter().filter(|link| link.probability >= WEAK) {
        let Some(place) = labels.len().checked_sub(link.distance) else { continue };
        let is_full = offered.len() == PER_WORLD;
        match offered.iter_mut().find(|(known, _)| *known == labels[place]) {
            Some((_, weight)) => *weight += link.probability,
            None if is_full => {}
            None => offered.push((labels[place], link.probability)),
        }
    }
    offered
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
