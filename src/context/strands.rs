//! The strand that a trigger belongs to: links, worlds, and the set worth taking.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::context::choose::{Choice, Taken, best_set, marginals};
use crate::context::links::{Antecedents, Past, Speech, Turn, WINDOW, silence_ranks};
use crate::context::matters::{Ground, Matters, Opening, Remark, Weights, says_little, slowness, starts_new, stems};
use crate::context::worlds::{Hypotheses, WORLDS, Worlds, members};
use crate::domain::{ChatId, MessageId, StoredMessage};

/// A trigger that more likely than this starts something new is given nothing earlier.
const STARTS_NEW: f32 = 0.9;

/// What is known beside the messages themselves. All of it may be missing: then it is worked out, or done without.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Embeddings of unit length, of whatever texts have one.
    pub vectors: HashMap<(ChatId, MessageId), Vec<f32>>,
    /// Antecedents worked out before, from the text alone: reply links are added here.
    pub antecedents: HashMap<(ChatId, MessageId), Antecedents>,
}

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
    turns: &'a [Turn<'a>],
    stems: Vec<HashSet<String>>,
    worlds: Worlds,
}

/// Works out what is missing of `evidence` for the candidates of a conversation, oldest first; gives what is new.
pub fn complete(conversation: &[&StoredMessage], evidence: &mut Evidence) -> Vec<(ChatId, MessageId)> {
    let first = conversation.len().saturating_sub(WINDOW);
    let missing: Vec<usize> = (first..conversation.len())
        .filter(|place| !evidence.antecedents.contains_key(&address(conversation[*place])))
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let speeches: Vec<Speech> = conversation.iter().map(|stored| read(stored)).collect();
    let turns = turns(conversation, &speeches, evidence);
    let rows: Vec<_> = missing
        .into_iter()
        .map(|place| {
            (address(conversation[place]), Past { turns: &turns[..place] }.antecedents(turns[place], false).kept())
        })
        .collect();
    let fresh = rows.iter().map(|(address, _)| *address).collect();
    evidence.antecedents.extend(rows);
    fresh
}

/// The candidates that the trigger is about, at most `most`. `conversation` is oldest first; of it the last [`WINDOW`] are
/// candidates, and what is before them is their past.
pub fn pick(asking: Asking<'_>, conversation: &[&StoredMessage], evidence: &Evidence, most: usize) -> Picked {
    let speeches: Vec<Speech> = conversation.iter().map(|stored| read(stored)).collect();
    let turns = turns(conversation, &speeches, evidence);
    let first = turns.len().saturating_sub(WINDOW);
    let rows: Vec<Antecedents> = (first..turns.len())
        .map(|place| replying(row(conversation, &turns, place, evidence), conversation, place))
        .collect();
    let messages = &conversation[first..];
    let ids = messages.iter().map(|stored| address(stored));
    let candidates = Candidates {
        messages,
        turns: &turns[first..],
        stems: messages.iter().map(|stored| stems(&stored.message.text)).collect(),
        worlds: Worlds::draw(ids.zip(&rows).collect::<Vec<_>>()),
    };
    let speech = Speech::read(&asking.message.message, asking.text);
    let turn = Turn::new(&speech, vector(asking.message, evidence));
    let mut picked = candidates.pick(asking, turn, most);
    picked.taken.iter_mut().for_each(|one| one.place += first);
    picked.marginals.iter_mut().for_each(|(place, _)| *place += first);
    picked
}

impl Candidates<'_> {
    fn pick(&self, asking: Asking<'_>, trigger: Turn<'_>, most: usize) -> Picked {
        let moments = self.messages.iter().copied().chain([asking.message]).map(seconds);
        let slowness = slowness(moments.collect::<Vec<_>>().into_iter());
        let bare = says_little(asking.text, |stem| self.stems.iter().any(|known| known.contains(stem)));
        let links = Past { turns: self.turns }.antecedents(trigger, bare);
        let reply = asking.message.message.reply_to.and_then(|id| distance_of(id, self.messages));
        let links = match reply {
            Some(distance) => links.with_reply(distance),
            None => links,
        };
        let (hypotheses, smoothing) = match Weights::shipped().filter(|_| slowness > 0.0) {
            None if links.starts_new() >= STARTS_NEW => return Picked::default(),
            None => (self.worlds.hypotheses(&links), 0.0),
            Some(weights) => {
                let own_stems = (!bare).then(|| stems(asking.text));
                let matters = Matching {
                    asking,
                    trigger,
                    links: &links,
                    reply,
                    own_stems: own_stems.as_ref(),
                    slowness,
                    weights,
                };
                let hypotheses = self.matters(&matters);
                let opening = Opening {
                    unlinked: f64::from(links.starts_new()),
                    mass: f64::from(hypotheses.mass()),
                    is_reply: reply.is_some(),
                    stems: own_stems.as_ref(),
                    known: &self.stems,
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
        let Matching { asking, trigger, links, reply, own_stems, slowness, weights } = *matching;
        let count = self.messages.len();
        let mut remarks: Vec<Remark<'_>> = (0..count).map(|place| self.remark(place)).collect();
        if let Some(stems) = own_stems {
            remarks.push(remark(asking.message, trigger, stems.clone(), 0.0, None));
        }
        let ground = Ground::new(with_silences(remarks), asking.message.message.sender.id, slowness);
        let pull = self.pull(links, reply, matching);
        let rest = 1.0 - pull.iter().sum::<f64>();
        let mut hypotheses = Hypotheses::default();
        for world in 0..WORLDS {
            let (antecedents, chances) = (self.worlds.antecedents(world), self.worlds.chances(world));
            let matters = Matters::draw(&ground, &antecedents, &chances, reply.is_none(), weights);
            let mut mass = vec![0.0; matters.count];
            matters.of.iter().zip(&pull).for_each(|(matter, pull)| mass[*matter] += pull);
            mass.iter_mut().zip(&matters.taken_up).for_each(|(mass, taken_up)| *mass += rest * taken_up);
            for (matter, mass) in mass.into_iter().enumerate().filter(|(_, mass)| *mass > weights.mass_min) {
                hypotheses.add((mass / WORLDS as f64) as f32, members(&matters.of, |of| *of == matter));
            }
        }
        hypotheses
    }

    /// How strongly the trigger's links pull each candidate in. A tag with words asks about its words, and less about what
    /// was said last.
    fn pull(&self, links: &Antecedents, reply: Option<usize>, matching: &Matching<'_>) -> Vec<f64> {
        let Matching { asking, own_stems, weights, .. } = *matching;
        let mut pull = vec![0.0; self.messages.len()];
        for link in &links.0 {
            let Some(place) = pull.len().checked_sub(link.distance) else { continue };
            let is_near = seconds(asking.message) - seconds(self.messages[place]) <= weights.far;
            let share = match (own_stems, reply) {
                (None, _) => 1.0,
                (Some(_), None) if asking.is_tag => weights.rho,
                (Some(_), reply) => f64::from(u8::from(is_near || reply == Some(link.distance))),
            };
            pull[place] += share * f64::from(link.probability);
        }
        pull
    }

    fn remark(&self, place: usize) -> Remark<'_> {
        let message = self.messages[place];
        let reply = message.message.reply_to.and_then(|id| distance_of(id, &self.messages[..place]));
        remark(message, self.turns[place], self.stems[place].clone(), 0.0, reply.map(|distance| place - distance))
    }
}

/// What the matters of a slow chat are matched with.
#[derive(Clone, Copy)]
struct Matching<'a> {
    asking: Asking<'a>,
    trigger: Turn<'a>,
    links: &'a Antecedents,
    reply: Option<usize>,
    /// None where the trigger says too little to go by.
    own_stems: Option<&'a HashSet<String>>,
    slowness: f64,
    weights: &'a Weights,
}

fn remark<'a>(
    stored: &StoredMessage,
    turn: Turn<'a>,
    stems: HashSet<String>,
    silence: f64,
    reply: Option<usize>,
) -> Remark<'a> {
    Remark {
        at: seconds(stored),
        author: turn.speech.author,
        mentions: turn.speech.mentioned.clone(),
        stems,
        silence,
        is_question: turn.speech.is_question,
        is_greeting: turn.speech.is_greeting,
        vector: turn.vector,
        reply,
    }
}

/// Fills in how long each silence was for this chat.
fn with_silences(mut remarks: Vec<Remark<'_>>) -> Vec<Remark<'_>> {
    let moments: Vec<f64> = remarks.iter().map(|remark| remark.at).collect();
    for (remark, silence) in remarks.iter_mut().zip(silence_ranks(&moments)) {
        remark.silence = f64::from(silence);
    }
    remarks
}

fn turns<'a>(conversation: &[&'a StoredMessage], speeches: &'a [Speech], evidence: &'a Evidence) -> Vec<Turn<'a>> {
    conversation.iter().zip(speeches).map(|(stored, speech)| Turn::new(speech, vector(stored, evidence))).collect()
}

fn seconds(stored: &StoredMessage) -> f64 {
    stored.message.sent_at.secs() as f64
}

/// Fingerprints of the last [`WINDOW`] messages of a conversation, each with the messages it is scored against. The
/// same fingerprint means the same antecedents: texts change only with an edit or with the row itself.
pub fn fingerprints(conversation: &[&StoredMessage]) -> Vec<i64> {
    let marks: Vec<u64> = conversation.iter().map(|stored| mark(stored)).collect();
    let first = marks.len().saturating_sub(WINDOW);
    (first..marks.len())
        .map(|place| {
            let own = marks[place].rotate_left(1);
            let past = &marks[place.saturating_sub(WINDOW)..place];
            past.iter().fold(own, |sum, mark| sum ^ mark).cast_signed()
        })
        .collect()
}

fn mark(stored: &StoredMessage) -> u64 {
    let mut hasher = DefaultHasher::new();
    let message = &stored.message;
    (message.chat, message.id, message.edited_at, message.origin.as_str(), message.text.len()).hash(&mut hasher);
    hasher.finish()
}

/// Antecedents of every message of a conversation (oldest first), from the text alone: what is worth keeping.
pub fn antecedent_rows(
    conversation: &[StoredMessage],
    evidence: &Evidence,
) -> HashMap<(ChatId, MessageId), Antecedents> {
    let all: Vec<&StoredMessage> = conversation.iter().collect();
    let speeches: Vec<Speech> = conversation.iter().map(read).collect();
    let turns = turns(&all, &speeches, evidence);
    let rows = (0..turns.len()).map(|place| Past { turns: &turns[..place] }.antecedents(turns[place], false).kept());
    conversation.iter().map(address).zip(rows).collect()
}

/// Antecedents of the message at `place`, from the text alone.
fn row(conversation: &[&StoredMessage], turns: &[Turn<'_>], place: usize, evidence: &Evidence) -> Antecedents {
    match evidence.antecedents.get(&address(conversation[place])) {
        Some(known) => known.clone(),
        None => Past { turns: &turns[..place] }.antecedents(turns[place], false).kept(),
    }
}

/// The same with its reply link, where its parent is among the conversation.
fn replying(antecedents: Antecedents, conversation: &[&StoredMessage], place: usize) -> Antecedents {
    let parent = conversation[place].message.reply_to;
    match parent.and_then(|id| distance_of(id, &conversation[..place])) {
        Some(distance) => antecedents.with_reply(distance),
        None => antecedents,
    }
}

/// How far back a message is, 1 being the last.
fn distance_of(id: MessageId, past: &[&StoredMessage]) -> Option<usize> {
    past.iter().rev().position(|stored| stored.message.id == id).map(|back| back + 1)
}

fn read(stored: &StoredMessage) -> Speech {
    Speech::read(&stored.message, &stored.message.text)
}

fn vector<'a>(stored: &StoredMessage, evidence: &'a Evidence) -> &'a [f32] {
    evidence.vectors.get(&address(stored)).map_or(&[], Vec::as_slice)
}

fn address(stored: &StoredMessage) -> (ChatId, MessageId) {
    (stored.message.chat, stored.message.id)
}
