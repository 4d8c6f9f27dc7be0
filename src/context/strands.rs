//! The strand that a trigger belongs to: links, worlds, and the set worth taking.
//!
//! In a busy chat the strands of the worlds are the hypotheses. In a slow one, where matters are taken up after silences, a
//! message that goes on with the talk chooses among the matters of the worlds, and a tag asks what it hangs on (`tag`); so
//! does a tag that replies, however busy the chat is: what it hangs on is known.

mod drawn;
mod foreseen;
mod rivals;
pub mod rows;
mod tag;

use std::sync::Arc;

pub use foreseen::{Foreseen, foresee};
pub use rivals::Rivals;

use crate::context::choose::{Choice, Taken, best_set, marginals};
use crate::context::explain::{Column, Feature, by_candidate};
use crate::context::links::{Antecedents, LinkModel, Past, Turn, WINDOW, silence_ranks};
use crate::context::matters::{
    BestMatch, Drawing, Ground, Opening, Remark, Weights, fragments, says_little, slowness, starts_new,
};
use crate::context::reading::{Evidence, Reading, address};
use crate::context::scorers::Scorers;
use crate::context::token::Token;
use crate::context::worlds::{Hypotheses, REMARK_WORLDS, STRAND_WORLDS};
use crate::domain::{MessageId, Role, StoredMessage, UserId};

/// A trigger that more likely than this starts something new is given nothing earlier.
const STARTS_NEW: f32 = 0.86;

/// A trigger as the scorer reads it.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub message: &'a StoredMessage,
    /// Its words without the bot's name.
    pub text: &'a str,
    /// Whether it tags the bot. A tag with words asks about its words; another message goes on with the talk.
    pub is_tag: bool,
    /// How many of the conversation are from further back than the rest, which is unbroken.
    pub older: usize,
}

/// What was picked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picked {
    /// By their places in the conversation, best first.
    pub taken: Vec<Taken>,
    /// How likely each candidate belongs, by its place in the conversation.
    pub marginals: Vec<(usize, f32)>,
    /// Where two matters are truly open.
    pub rivals: Option<Rivals>,
}

impl Picked {
    /// For a trigger that starts something new: nothing is taken, and how likely each candidate belongs stays known.
    fn starting_new(self) -> Self {
        Self { marginals: self.marginals, ..Self::default() }
    }
}

/// The candidates made ready to be scored.
struct Candidates<'a> {
    /// Oldest first; the places of all the others count from the first of these.
    messages: &'a [&'a StoredMessage],
    readings: &'a [Arc<Reading>],
    /// The same of the whole conversation.
    of_all: &'a [Arc<Reading>],
    /// How many of them come from further back than the rest.
    older: usize,
    evidence: &'a Evidence,
    links: &'a LinkModel,
    /// How far back the message is that each replies to, and its place if it is a candidate.
    parents: Vec<Option<usize>>,
    replies: Vec<Option<usize>>,
    /// What was worked out of them before.
    foreseen: Option<Arc<Foreseen>>,
}

/// The candidates that the trigger is about, at most `most`. `conversation` is oldest first; of it the last [`WINDOW`] are
/// candidates, and what is before them is their past.
pub fn pick(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    most: usize,
) -> Picked {
    pick_from(asking, conversation, evidence, (scorers, most), None)
}

/// The same, with the features of each candidate, by its place in the conversation.
pub fn explain(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    scorers: &Scorers,
    most: usize,
) -> (Picked, Vec<(usize, Vec<Feature>)>) {
    let mut columns = Vec::new();
    let picked = pick_from(asking, conversation, evidence, (scorers, most), Some(&mut columns));
    let first = conversation.len().saturating_sub(WINDOW);
    (picked, (first..).zip(by_candidate(&columns, conversation.len() - first)).collect())
}

/// `seen` takes what each feature was worth, where somebody wants to know.
fn pick_from(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    (scorers, most): (&Scorers, usize),
    seen: Option<&mut Vec<Column>>,
) -> Picked {
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let first = conversation.len().saturating_sub(WINDOW);
    let candidates = Candidates::of((conversation, asking.older), &readings, evidence, &scorers.links);
    let mut picked = candidates.pick((asking, &read(asking, evidence)), scorers, most, seen);
    picked.taken.iter_mut().for_each(|one| one.place += first);
    picked.marginals.iter_mut().for_each(|(place, _)| *place += first);
    if let Some(rivals) = &mut picked.rivals {
        rivals.first.iter_mut().chain(&mut rivals.second).for_each(|one| one.place += first);
    }
    picked
}

/// Reads a trigger: its vector was made from its ask; what else is known of it here.
fn read(asking: Asking<'_>, evidence: &Evidence) -> Reading {
    let vector = evidence.readings.get(&address(asking.message)).map_or_else(Vec::new, |known| known.vector.clone());
    Reading::of(&asking.message.message, asking.text, vector)
}

impl<'a> Candidates<'a> {
    /// The last of a `conversation`, of whose every message `readings` has one.
    fn of(
        (conversation, older): (&'a [&'a StoredMessage], usize),
        readings: &'a [Arc<Reading>],
        evidence: &'a Evidence,
        links: &'a LinkModel,
    ) -> Self {
        let first = conversation.len().saturating_sub(WINDOW);
        let earlier = evidence.earlier.iter().copied().filter(|_| older == 0);
        let ids: Vec<MessageId> = earlier.chain(conversation.iter().map(|stored| stored.message.id)).collect();
        let before = ids.len() - (conversation.len() - first);
        let messages = &conversation[first..];
        let parents: Vec<Option<usize>> = (before..)
            .zip(messages)
            .map(|(place, stored)| distance_of(stored.message.reply_to, &ids[..place]))
            .collect();
        Self {
            messages,
            readings: &readings[first..],
            of_all: readings,
            older,
            evidence,
            links,
            replies: (0..).zip(&parents).map(|(place, parent)| usize::checked_sub(place, (*parent)?)).collect(),
            parents,
            foreseen: evidence.foreseen.clone().filter(|foreseen| foreseen.is_of(messages)),
        }
    }
}

impl Candidates<'_> {
    fn pick(
        &self,
        (asking, trigger): (Asking<'_>, &Reading),
        scorers: &Scorers,
        most: usize,
        seen: Option<&mut Vec<Column>>,
    ) -> Picked {
        let heard = self.heard(asking, trigger, &scorers.links);
        let points = asking.is_tag && heard.reply.is_some();
        let weights = scorers.matters.as_ref().filter(|_| heard.slowness > 0.0 || points);
        if let Some(weights) = weights.filter(|_| asking.is_tag) {
            return self.matched((asking, trigger), &heard, weights, |matching| self.of_tag(matching, most, seen));
        }
        if let Some(seen) = seen {
            let turns: Vec<Turn<'_>> = self.readings.iter().map(|reading| reading.turn()).collect();
            seen.extend(Past::of(&turns, trigger.turn()).columns(&scorers.links, heard.bare));
        }
        match weights {
            Some(weights) => {
                self.matched((asking, trigger), &heard, weights, |matching| self.of_remark(matching, most))
            }
            None => self.of_strands(&heard.links, most),
        }
    }

    /// What is asked of every trigger.
    fn heard(&self, asking: Asking<'_>, trigger: &Reading, model: &LinkModel) -> Heard<'_> {
        let moments: Vec<f64> = self.messages.iter().copied().chain([asking.message]).map(seconds).collect();
        let stems: Vec<&[Token]> = self.readings.iter().map(|reading| reading.stems.as_slice()).collect();
        let bare = says_little(asking.text, |stem| stems.iter().any(|known| known.binary_search(&stem).is_ok()));
        let turns: Vec<Turn<'_>> = self.readings.iter().map(|reading| reading.turn()).collect();
        let past = Past::of(&turns, trigger.turn());
        let links = past.antecedents(model, bare);
        let ids: Vec<MessageId> = self.messages.iter().map(|stored| stored.message.id).collect();
        let reply = distance_of(asking.message.message.reply_to, &ids);
        let links = match reply {
            Some(distance) => links.with_reply(distance),
            None => links,
        };
        Heard {
            slowness: slowness(moments.iter().copied()),
            moments,
            stems,
            mentions: past.mentions(),
            bare,
            links,
            reply,
        }
    }

    fn matched<R>(
        &self,
        (asking, trigger): (Asking<'_>, &Reading),
        heard: &Heard<'_>,
        weights: &Weights,
        then: impl FnOnce(&Matching<'_>) -> R,
    ) -> R {
        let silences = silence_ranks(&heard.moments).into_iter().map(f64::from).collect();
        let Heard { slowness, ref stems, ref mentions, bare, ref links, reply, .. } = *heard;
        then(&Matching { asking, trigger, links, reply, bare, slowness, stems, mentions, silences, weights })
    }

    /// In a busy chat: the strand that most worlds lead to.
    fn of_strands(&self, links: &Antecedents, most: usize) -> Picked {
        let picked = self.picked(self.worlds(STRAND_WORLDS).hypotheses(links), most, 0.0);
        if links.starts_new() >= STARTS_NEW { picked.starting_new() } else { picked }
    }

    /// In a slow chat: the matters that a message goes on with, those included that are taken up after silences.
    fn of_remark(&self, matching: &Matching<'_>, most: usize) -> Picked {
        let weights = matching.weights;
        let hypotheses = self.matters(matching);
        let is_new =
            starts_new(&matching.opening(f64::from(hypotheses.mass()), BestMatch::default()), &weights.remark.gate);
        let picked = self.picked(hypotheses, most, (weights.lambda_slow * matching.slowness) as f32);
        if is_new { picked.starting_new() } else { picked }
    }

    fn picked(&self, hypotheses: Hypotheses, most: usize, smoothing: f32) -> Picked {
        let hypotheses = hypotheses.normalised();
        let count = self.messages.len();
        let marginals = marginals(&hypotheses, count).into_iter().enumerate().collect();
        let choice = Choice { count, most, smoothing };
        let rivals = rivals::of_hypotheses(&hypotheses, choice);
        Picked { taken: best_set(&hypotheses, choice), marginals, rivals }
    }

    /// The matters of every world, with how likely the trigger goes on with each.
    fn matters(&self, matching: &Matching<'_>) -> Hypotheses {
        let Matching { bare, reply, weights, .. } = *matching;
        let mut remarks = self.remarks(matching.mentions);
        if !bare {
            remarks.push(matching.remark());
        }
        let ground = matching.ground(remarks);
        let pull = self.pull(matching);
        let rest = 1.0 - pull.iter().sum::<f64>();
        let mut drawing = Drawing::new(&ground, reply.is_none(), &weights.remark.bridge);
        let mut hypotheses = Hypotheses::default();
        let worlds = self.worlds(REMARK_WORLDS);
        for (world, chances) in worlds.chances().into_iter().enumerate() {
            let fragments = fragments(&ground, &worlds.antecedents(world), weights.far);
            for matter in drawing.world(&fragments, &chances) {
                let linked: f64 = matter.members.places().map(|place| pull[place]).sum();
                let mass = linked + rest * matter.taken_up;
                if mass > weights.mass_min {
                    hypotheses.add((mass / REMARK_WORLDS as f64) as f32, matter.members);
                }
            }
        }
        hypotheses
    }

    /// `mentions` are those whom each candidate speaks to.
    fn remarks<'a>(&'a self, mentions: &'a [Vec<UserId>]) -> Vec<Remark<'a>> {
        let candidates = self.messages.iter().zip(self.readings).zip(mentions).zip(&self.replies);
        candidates.map(|(((stored, reading), mentions), reply)| remark(stored, reading, mentions, *reply)).collect()
    }

    /// How likely the trigger goes on from each candidate.
    fn linked(&self, links: &Antecedents) -> Vec<f64> {
        let mut linked = vec![0.0; self.messages.len()];
        for link in &links.0 {
            if let Some(place) = linked.len().checked_sub(link.distance) {
                linked[place] += f64::from(link.probability);
            }
        }
        linked
    }

    /// How strongly the trigger's links pull each candidate in. Words of its own say more than a link over a silence.
    fn pull(&self, matching: &Matching<'_>) -> Vec<f64> {
        let Matching { asking, links, reply, bare, weights, .. } = *matching;
        let count = self.messages.len();
        let reply = reply.and_then(|distance| count.checked_sub(distance));
        let mut pull = self.linked(links);
        for (place, pull) in pull.iter_mut().enumerate() {
            let is_near = seconds(asking.message) - seconds(self.messages[place]) <= weights.far;
            if !(bare || is_near || reply == Some(place)) {
                *pull = 0.0;
            }
        }
        pull
    }
}

/// A trigger among the candidates.
struct Heard<'a> {
    /// Unix seconds of the candidates, and last of the trigger.
    moments: Vec<f64>,
    slowness: f64,
    /// The candidates' stems.
    stems: Vec<&'a [Token]>,
    /// Whom each candidate speaks to, and last the trigger.
    mentions: Vec<Vec<UserId>>,
    /// The trigger says too little to go by.
    bare: bool,
    links: Antecedents,
    /// How far back the message is that the trigger replies to.
    reply: Option<usize>,
}

/// What the matters of a slow chat are matched with.
struct Matching<'a> {
    asking: Asking<'a>,
    trigger: &'a Reading,
    links: &'a Antecedents,
    /// How far back the message is that the trigger replies to.
    reply: Option<usize>,
    /// The trigger says too little to go by.
    bare: bool,
    slowness: f64,
    /// The candidates' stems.
    stems: &'a [&'a [Token]],
    /// Whom each candidate speaks to, and last the trigger.
    mentions: &'a [Vec<UserId>],
    /// How long the silence before each candidate was for this chat, and last that before the trigger.
    silences: Vec<f64>,
    weights: &'a Weights,
}

impl<'a> Matching<'a> {
    /// The trigger as one more remark.
    fn remark(&self) -> Remark<'a> {
        let mentions = self.mentions.last().map_or(&[][..], Vec::as_slice);
        remark(self.asking.message, self.trigger, mentions, None)
    }

    fn ground<'b>(&self, remarks: Vec<Remark<'b>>) -> Ground<'b> {
        let silences = &self.silences[..remarks.len()];
        Ground::new(remarks, silences, self.asking.message.message.sender.id, self.slowness)
    }

    fn opening(&self, mass: f64, best: BestMatch) -> Opening<'a> {
        Opening {
            unlinked: f64::from(self.links.starts_new()),
            mass,
            is_reply: self.reply.is_some(),
            stems: (!self.bare).then_some(&self.trigger.stems),
            known: self.stems,
            has_meaning: !self.trigger.vector.is_empty(),
            best,
        }
    }
}

fn remark<'a>(
    stored: &StoredMessage,
    reading: &'a Reading,
    mentions: &'a [UserId],
    reply: Option<usize>,
) -> Remark<'a> {
    Remark {
        at: seconds(stored),
        author: reading.speech.author,
        is_ours: stored.message.role == Role::Assistant,
        mentions,
        stems: &reading.stems,
        is_question: reading.speech.is_question,
        is_greeting: reading.speech.is_greeting,
        chars: reading.speech.chars,
        vector: &reading.vector,
        reply,
    }
}

fn seconds(stored: &StoredMessage) -> f64 {
    stored.message.sent_at.secs() as f64
}

/// How far back a message is among `past`, 1 being the last.
fn distance_of(id: Option<MessageId>, past: &[MessageId]) -> Option<usize> {
    let id = id?;
    past.iter().rev().position(|other| *other == id).map(|back| back + 1)
}
