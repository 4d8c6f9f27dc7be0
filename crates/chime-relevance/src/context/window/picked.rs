//! The messages picked so far while a window is made, each with its reason and score.

use std::collections::BTreeMap;

use crate::context::budget::Pick;
use crate::context::candidates::{CandidateSet, Index};
use crate::context::history::Sources;
use crate::context::retrieval::rerank::Reranked;
use crate::context::window::surroundings;
use crate::retrieval::Stretch;
use chime_core::{Chosen, Reason, Role, Seq};

/// Score of the anchor's parent: an explicit link says more than closeness in time.
const CHAIN_SCORE: f64 = 0.9;
/// Factor for each further link of a chain.
const CHAIN_DECAY: f64 = 0.97;
/// Score of the message right before the trigger.
const CLUSTER_SCORE: f64 = 0.85;
/// Factor for each further message: after 20 of them the score is about a third.
const CLUSTER_DECAY: f64 = 0.95;

/// The picks by place. The first reason given to a message stays.
#[derive(Default)]
pub struct Picked(BTreeMap<Index, (Reason, f64)>);

impl Picked {
    pub fn add(&mut self, place: Index, reason: Reason, score: f64) {
        self.0.entry(place).or_insert((reason, score));
    }

    /// Adds the ancestors of the anchor by reply links, nearest first.
    pub fn add_chain(&mut self, pool: &CandidateSet<'_>, anchor: Option<Index>, depth: usize) {
        let ancestors = std::iter::successors(anchor, |place| pool.parent(*place)).skip(1);
        for (links, place) in ancestors.take(depth).enumerate() {
            self.add(place, Reason::Chain, CHAIN_SCORE * decay(CHAIN_DECAY, links));
        }
    }

    /// Adds what the messages picked so far reply to, where it is too old to be scored with them.
    pub fn add_older_parents(&mut self, pool: &CandidateSet<'_>) {
        for (place, (_, score)) in self.0.clone() {
            let is_older = |parent: &Index| {
                pool.candidates.binary_search(parent).is_err() && pool.conversation.binary_search(parent).is_ok()
            };
            if let Some(parent) = pool.parent(place).filter(is_older) {
                self.add(parent, Reason::Strand, score * CHAIN_DECAY);
            }
        }
    }

    /// Adds what was picked before, as far as it is still there.
    pub fn add_given(&mut self, pool: &CandidateSet<'_>, given: &[Chosen]) {
        for place in pool.conversation.iter().copied() {
            if let Some(chosen) = given.iter().find(|chosen| chosen.seq == pool.messages[place].seq) {
                self.add(place, chosen.reason, chosen.score);
            }
        }
    }

    /// The pick with the highest score, the newest of equals.
    pub fn likeliest(&self) -> Option<Index> {
        self.0.iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1)).map(|(place, _)| *place)
    }

    /// Adds the sources of the answer that the trigger is `about`.
    pub fn add_sources(&mut self, pool: &CandidateSet<'_>, about: Option<Index>, sources: Option<&Sources>) {
        let (Some(about), Some(sources)) = (about, sources) else { return };
        if sources.of != pool.messages[about].message.id {
            return;
        }
        for place in pool.conversation.iter().copied() {
            if let Some((_, is_cited)) = sources.used.iter().find(|(seq, _)| *seq == pool.messages[place].seq) {
                let score = if *is_cited { CHAIN_SCORE } else { CHAIN_SCORE * CHAIN_DECAY };
                self.add(place, Reason::Source, score);
            }
        }
    }

    /// Adds an answer of the bot that the trigger goes on with, what it answers, and what was said since; what others asked
    /// the bot in between is another matter.
    pub fn add_talk_since(&mut self, pool: &CandidateSet<'_>, answer: Index) {
        for place in pool.parent(answer).into_iter().chain([answer]) {
            self.add(place, Reason::Strand, CHAIN_SCORE);
        }
        let since = || pool.conversation.iter().rev().copied().take_while(|place| *place > answer);
        let answers: Vec<Index> =
            since().filter(|place| pool.messages[*place].message.role == Role::Assistant).collect();
        let answered: Vec<Index> = answers.iter().filter_map(|place| pool.parent(*place)).collect();
        let since: Vec<Index> = since().filter(|place| !answers.contains(place) && !answered.contains(place)).collect();
        self.add_cluster(&since);
    }

    pub fn add_cluster(&mut self, nearest_first: &[Index]) {
        for (position, place) in nearest_first.iter().enumerate() {
            self.add(*place, Reason::Cluster, CLUSTER_SCORE * decay(CLUSTER_DECAY, position));
        }
    }

    /// Adds the rest of each album that has a picked message.
    pub fn complete_albums(&mut self, pool: &CandidateSet<'_>) {
        for (place, (_, score)) in self.0.clone() {
            for mate in pool.album_mates(place) {
                self.add(mate, Reason::Cluster, score);
            }
        }
        for mate in pool.trigger_mates() {
            self.add(mate, Reason::Cluster, CLUSTER_SCORE);
        }
    }

    /// Adds what was accepted from further back. `pool` has it, and `before` is the pool that everything was picked from.
    pub fn with_bridged(self, before: &CandidateSet<'_>, pool: &CandidateSet<'_>, found: &[Reranked]) -> Self {
        let moved = |(place, it): (Index, (Reason, f64))| Some((pool.place_of(before.messages[place])?, it));
        let mut picked = Self(self.0.into_iter().filter_map(moved).collect());
        for one in found.iter().filter(|one| one.is_accepted) {
            if let Some(place) = pool.place_of(&one.message) {
                picked.add(place, Reason::Bridge, one.probability);
            }
        }
        picked
    }

    pub fn has(&self, place: Index) -> bool {
        self.0.contains_key(&place)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves those of the picked messages for which `keeps` holds by their place and score. What reply links or a summary led to
    /// stays.
    pub fn retain(&mut self, keeps: impl Fn(Index, f64) -> bool) {
        self.0.retain(|place, (reason, score)| *reason != Reason::Strand || keeps(*place, *score));
    }

    /// Adds stretches in which the words of a question were spoken about, best first, each message with its score: what
    /// holds the words of the first as focus where it `is_sure`, all others as surroundings.
    pub fn add_stretches(&mut self, pool: &CandidateSet<'_>, stretches: &[(Stretch, f64)], is_sure: bool) {
        for (rank, (stretch, score)) in stretches.iter().enumerate() {
            let is_marked = |seq: Seq| stretch.words_in.is_some_and(|(first, last)| (first..=last).contains(&seq));
            for stored in &stretch.messages {
                let reason =
                    if is_sure && rank == 0 && is_marked(stored.seq) { Reason::Bridge } else { Reason::Nearby };
                if let Some(place) = pool.place_of(stored) {
                    self.add(place, reason, *score);
                }
            }
        }
    }

    /// Adds the rest of the conversation as surroundings. `likely` is how likely each message belongs to the focus.
    pub fn add_surroundings(&mut self, pool: &CandidateSet<'_>, likely: &BTreeMap<Seq, f32>) {
        for (score, place) in surroundings::ranked(pool, likely) {
            self.add(place, Reason::Nearby, score);
        }
    }

    /// What was picked, each with its score.
    pub fn shares(&self) -> impl Iterator<Item = (Index, f64)> {
        self.0.iter().map(|(place, (_, score))| (*place, *score))
    }

    pub fn into_picks(self, pool: &CandidateSet<'_>) -> Vec<Pick> {
        let just_said = surroundings::just_said(pool);
        let pick = |(place, (reason, score))| Pick { place, reason, score, is_pinned: just_said.contains(&place) };
        self.0.into_iter().map(pick).collect()
    }
}

fn decay(rate: f64, steps: usize) -> f64 {
    rate.powi(i32::try_from(steps).unwrap_or(i32::MAX))
}
