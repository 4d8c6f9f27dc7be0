//! Strands as samples: dozens of ways in which the messages may hang together.
//!
//! In each *world* every message draws one antecedent from its distribution, or starts something new. A strand that holds
//! in most worlds is sure; one that holds in a few is a guess with its right weight. The draws are hashes of the message,
//! so that the same chat gives the same worlds.

use std::collections::BTreeMap;
use std::num::NonZeroU16;

use crate::context::links::{Antecedents, Link};
use crate::context::places::PlaceSet;
use crate::context::reading::Address;

/// Worlds where strands alone are asked for. Twice as many are worth .003 of F1 on dense channels, and a tenth of the time
/// that an answer takes.
pub const STRAND_WORLDS: usize = 24;
/// Worlds where matters are drawn on top for a message that goes on with the talk: with half of them fewer matters are found
/// again that rested, F1 .574 instead of .591.
pub const REMARK_WORLDS: usize = 48;
/// Worlds where matters are drawn on top for a tag, which takes most of its time. Twice as many choose no better: F1 over all
/// hand-labelled groups is .600 with 12 and with 24.
pub const TAG_WORLDS: usize = 12;
/// Strands that one world may offer for a message, the newest first.
const PER_WORLD: usize = 12;
/// The number of no strand.
const NOT_OFFERED: u8 = u8::MAX;
/// Links weaker than this offer no strand.
const WEAK: f32 = 0.002;

/// What every candidate goes on from, in every world.
#[derive(Debug, Clone, Default)]
pub struct Worlds {
    ids: Vec<Address>,
    /// How many worlds there are.
    worlds: usize,
    /// How many messages back, candidate after candidate in one world after the other; none where it starts something new.
    distances: Vec<Option<NonZeroU16>>,
}

/// A set of messages that the trigger may be about, and how likely it is that one.
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    pub weight: f32,
    pub members: PlaceSet,
}

impl Worlds {
    /// Draws so many worlds of `candidates`, oldest first, each with its antecedents.
    pub fn draw<'a>(worlds: usize, candidates: impl IntoIterator<Item = (Address, &'a Antecedents)>) -> Self {
        let (ids, rows): (Vec<Address>, Vec<&Antecedents>) = candidates.into_iter().unzip();
        let mut distances = vec![None; worlds * ids.len()];
        let mut room = Vec::with_capacity(worlds);
        for (place, (id, antecedents)) in ids.iter().zip(rows).enumerate() {
            each_chance((*id, Draw::Antecedent), worlds, &mut room, |world, chance| {
                distances[world * ids.len() + place] = drawn(antecedents, chance);
            });
        }
        Self { ids, worlds, distances }
    }

    /// How many candidates there are.
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// The place of each candidate's antecedent in one world, where that is a candidate too.
    pub fn antecedents(&self, world: usize) -> Vec<Option<usize>> {
        let from = |(place, distance): (usize, &Option<NonZeroU16>)| place.checked_sub(usize::from((*distance)?.get()));
        self.distances(world).iter().enumerate().map(from).collect()
    }

    /// Chances of the candidates for what is drawn after their antecedents: by world, then by candidate.
    pub fn chances(&self) -> Vec<Vec<f32>> {
        let mut by_world = vec![vec![0.0; self.count()]; self.worlds];
        let mut room = Vec::with_capacity(self.worlds);
        for (place, id) in self.ids.iter().enumerate() {
            each_chance((*id, Draw::Matter), self.worlds, &mut room, |world, chance| by_world[world][place] = chance);
        }
        by_world
    }

    /// The strands that a message with these antecedents may belong to. The weights sum to how likely it is any of them.
    pub fn hypotheses(&self, antecedents: &Antecedents) -> Hypotheses {
        let mut by_newest = antecedents.0.clone();
        by_newest.sort_by_key(|link| link.distance);
        let mut hypotheses = Hypotheses::default();
        // Labels begin at as many places before the first as the furthest antecedent may be.
        let furthest = self.distances.iter().flatten().max().map_or(0, |distance| distance.get());
        let mut numbers = vec![NOT_OFFERED; self.count() + usize::from(furthest)];
        for world in 0..self.worlds {
            let labels = self.labels(world);
            let mut offered = offered(&labels, &by_newest);
            // Which of those that are offered a label is: looked up rather than compared with each.
            let at = |label: i32| usize::try_from(label + i32::from(furthest)).unwrap_or(0);
            (0..).zip(&offered).for_each(|(number, strand)| numbers[at(strand.label)] = number);
            for (place, label) in labels.iter().enumerate() {
                if let Some(strand) = offered.get_mut(usize::from(numbers[at(*label)])) {
                    strand.members.insert(place);
                }
            }
            for strand in offered {
                numbers[at(strand.label)] = NOT_OFFERED;
                hypotheses.add(strand.weight / self.worlds as f32, strand.members);
            }
        }
        hypotheses
    }

    fn distances(&self, world: usize) -> &[Option<NonZeroU16>] {
        &self.distances[world * self.count()..][..self.count()]
    }

    /// The strand of each candidate in one world, named by the place of its first message. Places below zero are messages
    /// before the candidates.
    fn labels(&self, world: usize) -> Vec<i32> {
        let mut labels: Vec<i32> = Vec::with_capacity(self.count());
        for (place, distance) in self.distances(world).iter().enumerate() {
            let here = i32::try_from(place).unwrap_or(i32::MAX);
            labels.push(match distance {
                None => here,
                Some(distance) => match place.checked_sub(usize::from(distance.get())) {
                    Some(antecedent) => labels[antecedent],
                    None => here - i32::from(distance.get()),
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

/// A strand of one world that the trigger may belong to.
struct Strand {
    label: i32,
    weight: f32,
    members: PlaceSet,
}

/// The strands of one world that the links lead to, each with the sum of their probabilities and no members yet.
fn offered(labels: &[i32], links: &[Link]) -> Vec<Strand> {
    let mut offered: Vec<Strand> = Vec::with_capacity(PER_WORLD);
    for link in links.iter().filter(|link| link.probability >= WEAK) {
        let Some(place) = labels.len().checked_sub(link.distance) else { continue };
        let is_full = offered.len() == PER_WORLD;
        match offered.iter_mut().find(|known| known.label == labels[place]) {
            Some(known) => known.weight += link.probability,
            None if is_full => {}
            None => {
                offered.push(Strand { label: labels[place], weight: link.probability, members: PlaceSet::default() })
            }
        }
    }
    offered
}

/// The antecedent that `chance` draws; none where the message starts something new.
fn drawn(antecedents: &Antecedents, chance: f32) -> Option<NonZeroU16> {
    let mut below = 0.0;
    antecedents
        .0
        .iter()
        .find(|link| {
            below += link.probability;
            chance < below
        })
        .and_then(|link| NonZeroU16::new(u16::try_from(link.distance).ok()?))
}

/// What a chance is for.
#[derive(Debug, Clone, Copy)]
enum Draw {
    Antecedent,
    Matter,
}

/// Bits of a hash that make room for the number of its world.
const WORLD_BITS: u32 = 8;

/// Numbers from 0 to 1 that belong to a message, one for each world, and one from each of as many equal parts: so a message
/// goes on from an antecedent in as many worlds as it is likely to, and few worlds say what many would. `room` is to work in.
fn each_chance(
    ((chat, message), draw): (Address, Draw),
    worlds: usize,
    room: &mut Vec<u64>,
    mut each: impl FnMut(usize, f32),
) {
    let parts = [chat.0.cast_unsigned(), message.0.cast_unsigned(), draw as u64];
    let seed = parts.into_iter().fold(0x9e37_79b9_7f4a_7c15, |state, part| mix(state ^ part));
    room.clear();
    room.extend((0..worlds as u64).map(|world| mix(seed ^ world) >> WORLD_BITS << WORLD_BITS | world));
    room.sort_unstable();
    for (rank, hash) in room.iter().enumerate() {
        // The order said which part it is; 24 of the lower bits, what an f32 holds, say where in it.
        let within = (hash >> WORLD_BITS & 0xff_ffff) as f32 / (1_u32 << 24) as f32;
        let world = (hash & ((1 << WORLD_BITS) - 1)) as usize;
        each(world, ((rank as f32 + within) / worlds as f32).min(1.0 - f32::EPSILON));
    }
}

/// The finaliser of splitmix64.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
