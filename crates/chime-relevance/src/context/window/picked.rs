//! Messages that are picked for a window, each with its reason and score.

use std::collections::BTreeMap;

use crate::context::candidates::{CandidateSet, Index};
use crate::context::history::Sources;
use crate::context::older_messages::rerank::Reranked;
use crate::context::window::surroundings;
use crate::context::window_size::{LINE_TOKENS, Pick};
use crate::retrieval::Stretch;
use chime_core::{Chosen, Reason, Role, Seq};

/// Score of the message that the anchor replies to. It is above [`CLUSTER_SCORE`], since a reply link says more than
/// closeness in time.
const CHAIN_SCORE: f64 = 0.9;
/// Factor on the score for each further reply link.
const CHAIN_DECAY: f64 = 0.97;
/// Score of the message right before the trigger, if it is picked for closeness in time.
const CLUSTER_SCORE: f64 = 0.85;
/// Factor on the score for each message further back. After 20 messages the score is about a third.
const CLUSTER_DECAY: f64 = 0.95;

/// Picked messages by index, each with reason and score. If a message is added again, its first reason and score stay.
#[derive(Default)]
pub struct Picked(BTreeMap<Index, (Reason, f64)>);

impl Picked {
    pub fn add(&mut self, place: Index, reason: Reason, score: f64) {
        self.0.entry(place).or_insert((reason, score));
    }

    /// Adds at most `depth` ancestors of the anchor by reply links, nearest first.
    pub fn add_chain(&mut self, pool: &CandidateSet<'_>, anchor: Option<Index>, depth: usize) {
        let ancestors = std::iter::successors(anchor, |place| pool.parent(*place)).skip(1);
        for (links, place) in ancestors.take(depth).enumerate() {
            self.add(place, Reason::Chain, CHAIN_SCORE * decay(CHAIN_DECAY, links));
        }
    }

    /// Adds the messages that picked ones reply to, if they are of the same conversation but too old to be candidates.
    pub fn add_older_parents(&mut self, pool: &CandidateSet<'_>) {
        for (place, (_, score)) in self.0.clone() {
            let is_older = |parent: &Index| {
                pool.candidates.binary_search(parent).is_err() && pool.conversation.binary_search(parent).is_ok()
            };
            if let Some(parent) = pool.parent(place).filter(is_older) {
                self.add(parent, Reason::Thread, score * CHAIN_DECAY);
            }
        }
    }

    /// Adds a focus that was chosen in advance; messages that no longer exist are left out.
    pub fn add_given(&mut self, pool: &CandidateSet<'_>, given: &[Chosen]) {
        for place in pool.conversation.iter().copied() {
            if let Some(chosen) = given.iter().find(|chosen| chosen.seq == pool.messages[place].seq) {
                self.add(place, chosen.reason, chosen.score);
            }
        }
    }

    /// Returns the index of the pick with the highest score, and of equal ones the newest.
    pub fn likeliest(&self) -> Option<Index> {
        self.0.iter().max_by(|a, b| a.1.1.total_cmp(&b.1.1)).map(|(place, _)| *place)
    }

    /// Adds the messages that an answer of the bot was based on, if the message at `about` is that answer. Cited ones
    /// get a higher score.
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

    /// Adds an answer of the bot that the trigger continues, the question it answered, and all messages since, without
    /// further questions to the bot and their answers.
    pub fn add_talk_since(&mut self, pool: &CandidateSet<'_>, answer: Index) {
        for place in pool.parent(answer).into_iter().chain([answer]) {
            self.add(place, Reason::Thread, CHAIN_SCORE);
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

    /// Adds the other messages of each album that has a picked message, and of the trigger's own album.
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

    /// Adds the accepted messages of `found`, which are older than all candidates; those with a probability of at least
    /// `least` join the focus. Also converts all indices: they refer to `before`, and in the result to `pool`, which
    /// has the added messages too.
    pub fn with_bridged(
        self,
        before: &CandidateSet<'_>,
        pool: &CandidateSet<'_>,
        found: &[Reranked],
        least: f64,
    ) -> Self {
        let moved = |(place, it): (Index, (Reason, f64))| Some((pool.place_of(before.messages[place])?, it));
        let mut picked = Self(self.0.into_iter().filter_map(moved).collect());
        for one in found.iter().filter(|one| one.is_accepted) {
            if let Some(place) = pool.place_of(&one.message) {
                let reason = if one.probability >= least { Reason::Bridge } else { Reason::Nearby };
                picked.add(place, reason, one.probability);
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

    /// Drops the messages that were picked as part of the thread and that `keeps` rejects. Messages with other reasons,
    /// such as reply links, stay.
    pub fn retain(&mut self, keeps: impl Fn(Index, f64) -> bool) {
        self.0.retain(|place, (reason, score)| *reason != Reason::Thread || keeps(*place, *score));
    }

    /// Adds the stretches for a question, best first; each message gets its stretch's score. If `is_sure`, the messages
    /// of the first stretch between its first and its last match join the focus; all others become surroundings.
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

    /// Adds the rest of the conversation as surroundings. `likely` holds the probability that each message belongs to
    /// the focus.
    pub fn add_surroundings(&mut self, pool: &CandidateSet<'_>, likely: &BTreeMap<Seq, f32>, is_question: bool) {
        for (score, place) in surroundings::ranked(pool, likely, is_question) {
            self.add(place, Reason::Nearby, score);
        }
    }

    /// Returns the index and the score of each pick.
    pub fn shares(&self) -> impl Iterator<Item = (Index, f64)> {
        self.0.iter().map(|(place, (_, score))| (*place, *score))
    }

    /// Converts the picks. The messages of today's talk that fit into `running` tokens are packed first.
    pub fn into_picks(self, pool: &CandidateSet<'_>, running: usize, estimate: fn(&str) -> usize) -> Vec<Pick> {
        let tokens = |place: Index| estimate(&pool.messages[place].message.rendered()) + LINE_TOKENS;
        let just_said = surroundings::just_said(pool, running, tokens);
        let pick = |(place, (reason, score))| Pick { place, reason, score, is_pinned: just_said.contains(&place) };
        self.0.into_iter().map(pick).collect()
    }
}

fn decay(rate: f64, steps: usize) -> f64 {
    rate.powi(i32::try_from(steps).unwrap_or(i32::MAX))
}
