//! The strand that a trigger belongs to: links, worlds, and the set worth taking.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::choose::{Choice, Taken, best_set, marginals};
use crate::context::links::{Antecedents, Past, Turn, WINDOW, silence_ranks};
use crate::context::matters::{Drawing, Ground, Opening, Remark, Weights, says_little, slowness, starts_new};
use crate::context::reading::{Address, Evidence, Reading, address, antecedents_at};
use crate::context::token::Token;
use crate::context::worlds::{Hypotheses, WORLDS, Worlds};
use crate::domain::{MessageId, StoredMessage};

/// A trigger that more likely than this starts something new is given nothing earlier.
const STARTS_NEW: f32 = 0.9;

/// A trigger as the scorer reads it.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub message: &'a StoredMessage,
    /// Its words without the bot's name.
    pub text: &'a str,
    /// Whether it tags the bot. A tag with words asks about its words; another message goes on with the talk.
    pub is_tag: bool,
}

/// What was picked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picked {
    /// By their places in the conversation, best first.
    pub taken: Vec<Taken>,
    /// How likely each candidate belongs, by its place in the conversation.
    pub marginals: Vec<(usize, f32)>,
}

/// The candidates made ready to be scored.
struct Candidates<'a> {
    /// Oldest first; the places of all the others count from the first of these.
    messages: &'a [&'a StoredMessage],
    readings: &'a [Arc<Reading>],
    /// Places of the candidates that others reply to.
    replies: Vec<Option<usize>>,
    worlds: Worlds,
}

/// The candidates that the trigger is about, at most `most`. `conversation` is oldest first; of it the last [`WINDOW`] are
/// candidates, and what is before them is their past.
pub fn pick(asking: Asking<'_>, conversation: &[&StoredMessage], evidence: &Evidence, most: usize) -> Picked {
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let first = conversation.len().saturating_sub(WINDOW);
    let earlier = evidence.earlier.iter().copied();
    let ids: Vec<MessageId> = earlier.chain(conversation.iter().map(|stored| stored.message.id)).collect();
    let before = ids.len() - (conversation.len() - first);
    let messages = &conversation[first..];
    let parents: Vec<Option<usize>> =
        (before..).zip(messages).map(|(place, stored)| distance_of(stored.message.reply_to, &ids[..place])).collect();
    let rows = (first..).zip(messages).zip(&parents).map(|((place, stored), parent)| {
        let known = match evidence.antecedents.get(&address(stored)) {
            Some(known) => Arc::clone(known),
            None => Arc::new(antecedents_at(&readings, place)),
        };
        match parent {
            Some(distance) => Arc::new(Antecedents::clone(&known).with_reply(*distance)),
            None => known,
        }
    });
    let rows: Vec<Arc<Antecedents>> = rows.collect();
    let addresses = messages.iter().map(|stored| address(stored));
    let candidates = Candidates {
        messages,
        readings: &readings[first..],
        replies: (0..).zip(&parents).map(|(place, parent)| usize::checked_sub(place, (*parent)?)).collect(),
        worlds: Worlds::draw(addresses.zip(rows.iter().map(Arc::as_ref))),
    };
    // Its vector was made from its ask; what else is known of it here.
    let vector = evidence.readings.get(&address(asking.message)).map_or_else(Vec::new, |known| known.vector.clone());
    let trigger = Reading::of(&asking.message.message, asking.text, vector);
    let mut picked = candidates.pick(asking, &trigger, most);
    picked.taken.iter_mut().for_each(|one| one.place += first);
    picked.marginals.iter_mut().for_each(|(place, _)| *place += first);
    picked
}

impl Candidates<'_> {
    fn pick(&self, asking: Asking<'_>, trigger: &Reading, most: usize) -> Picked {
        let moments = self.messages.iter().copied().chain([asking.message]).map(seconds);
        let slowness = slowness(moments.collect::<Vec<_>>().into_iter());
        let stems: Vec<&[Token]> = self.readings.iter().map(|reading| reading.stems.as_slice()).collect();
        let bare = says_little(asking.text, |stem| stems.iter().any(|known| known.binary_search(&stem).is_ok()));
        let turns: Vec<Turn<'_>> = self.readings.iter().map(|reading| reading.turn()).collect();
        let links = Past { turns: &turns }.antecedents(trigger.turn(), bare);
        let ids: Vec<MessageId> = self.messages.iter().map(|stored| stored.message.id).collect();
        let reply = distance_of(asking.message.message.reply_to, &ids);
        let links = match reply {
            Some(distance) => links.with_reply(distance),
            None => links,
        };
        let (hypotheses, smoothing) = match Weights::shipped().filter(|_| slowness > 0.0) {
            None if links.starts_new() >= STARTS_NEW => return Picked::default(),
            None => (self.worlds.hypotheses(&links), 0.0),
            Some(weights) => {
                let matching = Matching { asking, trigger, links: &links, reply, bare, slowness, weights };
                let hypotheses = self.matters(&matching);
                let opening = Opening {
                    unlinked: f64::from(links.starts_new()),
                    mass: f64::from(hypotheses.mass()),
                    is_reply: reply.is_some(),
                    stems: (!bare).then_some(&trigger.stems),
                    known: &stems,
                };
                if starts_new(&opening, weights) {
                    return Picked::default();
                }
                (hypotheses, (weights.lambda_slow * slowness) as f32)
            }
        };
        let hypotheses = hypotheses.normalised();
        let count = self.messages.len();
        let marginals = marginals(&hypotheses, count).into_iter().enumerate().collect();
        Picked { taken: best_set(&hypotheses, Choice { count, most, smoothing }), marginals }
    }

    /// In a slow chat: matters that are taken up again after silences, in every world.
    fn matters(&self, matching: &Matching<'_>) -> Hypotheses {
        let Matching { asking, trigger, reply, bare, slowness, weights, .. } = *matching;
        let candidates = self.messages.iter().zip(self.readings).zip(&self.replies);
        let mut remarks: Vec<Remark<'_>> =
            candidates.map(|((stored, reading), reply)| remark(stored, reading, *reply)).collect();
        if !bare {
            remarks.push(remark(asking.message, trigger, None));
        }
        let moments: Vec<f64> = remarks.iter().map(|remark| remark.at).collect();
        let silences: Vec<f64> = silence_ranks(&moments).into_iter().map(f64::from).collect();
        let ground = Ground::new(remarks, &silences, asking.message.message.sender.id, slowness);
        let pull = self.pull(matching);
        let rest = 1.0 - pull.iter().sum::<f64>();
        let mut drawing = Drawing::new(&ground, reply.is_none(), weights);
        let mut hypotheses = Hypotheses::default();
        for world in 0..WORLDS {
            for matter in drawing.world(&self.worlds.antecedents(world), &self.worlds.chances(world)) {
                let linked: f64 = matter.members.places().map(|place| pull[place]).sum();
                let mass = linked + rest * matter.taken_up;
                if mass > weights.mass_min {
                    hypotheses.add((mass / WORLDS as f64) as f32, matter.members);
                }
            }
        }
        hypotheses
    }

    /// How strongly the trigger's links pull each candidate in. A tag with words asks about its words, and less about what
    /// was said last.
    fn pull(&self, matching: &Matching<'_>) -> Vec<f64> {
        let Matching { asking, links, reply, bare, weights, .. } = *matching;
        let mut pull = vec![0.0; self.messages.len()];
        for link in &links.0 {
            let Some(place) = pull.len().checked_sub(link.distance) else { continue };
            let is_near = seconds(asking.message) - seconds(self.messages[place]) <= weights.far;
            let share = match reply {
                _ if bare => 1.0,
                None if asking.is_tag => weights.rho,
                reply => f64::from(u8::from(is_near || reply == Some(link.distance))),
            };
            pull[place] += share * f64::from(link.probability);
        }
        pull
    }
}

/// What the matters of a slow chat are matched with.
#[derive(Clone, Copy)]
struct Matching<'a> {
    asking: Asking<'a>,
    trigger: &'a Reading,
    links: &'a Antecedents,
    /// How far back the message is that the trigger replies to.
    reply: Option<usize>,
    /// The trigger says too little to go by.
    bare: bool,
    slowness: f64,
    weights: &'a Weights,
}

fn remark<'a>(stored: &StoredMessage, reading: &'a Reading, reply: Option<usize>) -> Remark<'a> {
    Remark {
        at: seconds(stored),
        author: reading.speech.author,
        mentions: &reading.speech.mentioned,
        stems: &reading.stems,
        is_question: reading.speech.is_question,
        is_greeting: reading.speech.is_greeting,
        vector: &reading.vector,
        reply,
    }
}

fn seconds(stored: &StoredMessage) -> f64 {
    stored.message.sent_at.secs() as f64
}

/// Antecedents of every message of a conversation (oldest first), from the text alone.
pub fn antecedent_rows(conversation: &[StoredMessage], evidence: &Evidence) -> HashMap<Address, Arc<Antecedents>> {
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let rows = (0..readings.len()).map(|place| Arc::new(antecedents_at(&readings, place)));
    conversation.iter().map(address).zip(rows).collect()
}

/// How far back a message is among `past`, 1 being the last.
fn distance_of(id: Option<MessageId>, past: &[MessageId]) -> Option<usize> {
    let id = id?;
    past.iter().rev().position(|other| *other == id).map(|back| back + 1)
}
