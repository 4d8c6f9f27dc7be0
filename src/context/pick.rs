//! From a trigger and its candidates to the focus: the candidates that the trigger points at (`guess`), each with the matter
//! that it would bring along, and the set with the highest expected F1 over these guesses.
//!
//! A guess about a matter is made of the relatedness of each pair in a slow chat, and of the strands of sampled reply forests
//! in a busy one; what lies between is a mean of the two by the chat's slowness.

mod guess;
pub mod precompute;
pub mod training;

use std::sync::Arc;

use crate::context::contributions::Column;
use crate::context::evidence::Evidence;
use crate::context::features::corpus::{Corpus, Utterance};
use crate::context::features::lexical;
use crate::context::features::lexical::{says_little, telling_part};
use crate::context::features::message::{MessageFeatures, address};
use crate::context::features::rhythm::{WINDOW, slowness};
use crate::context::focus::Tag;
use crate::context::history::{History, Sources};
use crate::context::replies::antecedents::{Antecedents, Past};
use crate::context::replies::model::ReplyModel;
use crate::context::seed::SeedRule;
use crate::context::select::ambiguity::Rivals;
use crate::context::select::expected_f1::Taken;
use crate::context::strands::SampledStrands;
use crate::context::weights::Scorers;
use crate::domain::{MessageId, Role, StoredMessage};
use crate::trigger::Languages;

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
    /// What tells the newest run without a long silence.
    pub seed: SeedRule,
    /// What the answer rests on that it replies to.
    pub sources: Option<&'a Sources>,
}

impl<'a> Asking<'a> {
    pub fn of(history: &'a History, older: usize, seed: SeedRule) -> Self {
        let message = &history.trigger;
        let sources = history.sources.as_ref().filter(|sources| message.message.reply_to == Some(sources.of));
        Self { message, text: &history.ask, is_tag: history.is_tag, older, seed, sources }
    }
}

/// What was picked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Picked {
    /// By their places in the conversation, best first.
    pub taken: Vec<Taken>,
    /// How likely each message of the conversation belongs.
    pub marginals: Vec<f32>,
    /// Where two matters are truly open.
    pub rivals: Option<Rivals>,
}

/// The candidates made ready to be scored.
struct Candidates<'a> {
    /// Oldest first; the places of all the others count from the first of these.
    messages: &'a [&'a StoredMessage],
    readings: &'a [Arc<MessageFeatures>],
    /// The same of the whole conversation.
    of_all: &'a [Arc<MessageFeatures>],
    /// How many of them come from further back than the rest.
    older: usize,
    evidence: &'a Evidence,
    links: &'a ReplyModel,
    /// How far back the message is that each replies to, and its place if it is a candidate.
    parents: Vec<Option<usize>>,
    replies: Vec<Option<usize>>,
    /// What was worked out of them before.
    sampled: Option<Arc<SampledStrands>>,
}

/// Which of `conversation`, at most [`WINDOW`] messages, oldest first, the trigger is about, at most `most`. `seen` takes what
/// each feature was worth, where somebody wants to know.
pub fn pick(
    asking: Asking<'_>,
    conversation: &[&StoredMessage],
    evidence: &Evidence,
    (scorers, most): (&Scorers, usize),
    seen: Option<&mut Vec<Column>>,
) -> Picked {
    let readings: Vec<Arc<MessageFeatures>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let candidates = Candidates::of((conversation, asking.older), &readings, evidence, &scorers.links);
    let trigger = candidates.read(asking);
    candidates.pick(&candidates.tag(asking, &trigger), &scorers.matters, most, seen)
}

impl<'a> Candidates<'a> {
    /// The last of a `conversation`, of whose every message `readings` has one.
    fn of(
        (conversation, older): (&'a [&'a StoredMessage], usize),
        readings: &'a [Arc<MessageFeatures>],
        evidence: &'a Evidence,
        links: &'a ReplyModel,
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
            sampled: evidence.sampled.clone().filter(|sampled| sampled.is_of(messages)),
        }
    }
}

impl Candidates<'_> {
    /// Reads a trigger. Of its words those count that tell something among the candidates.
    fn read(&self, asking: Asking<'_>) -> MessageFeatures {
        let known = self.evidence.readings.get(&address(asking.message));
        let vector = known.map_or_else(Vec::new, |known| known.vector.clone());
        let mut trigger = MessageFeatures::of(&asking.message.message, asking.text, vector);
        let spread = |stem| self.readings.iter().filter(|reading| reading.stems.binary_search(&stem).is_ok()).count();
        if let Some(telling) = telling_part(asking.text, spread) {
            trigger.stems = lexical::stems(&telling);
            trigger.vector = self.evidence.embed(&telling).unwrap_or(trigger.vector);
        }
        trigger
    }

    /// What is known of a trigger among the candidates; `trigger` is what was read off it.
    fn tag<'b>(&self, asking: Asking<'_>, trigger: &'b MessageFeatures) -> Tag<'b> {
        let message = asking.message;
        let is_known = |stem| self.readings.iter().any(|reading| reading.stems.binary_search(&stem).is_ok());
        let is_bare = says_little(asking.text, is_known);
        let past = Past::of(self.readings, trigger);
        let links = past.antecedents(self.links, is_bare);
        let ids: Vec<MessageId> = self.messages.iter().map(|stored| stored.message.id).collect();
        let reply = distance_of(message.message.reply_to, &ids);
        let links = match reply {
            Some(distance) => links.with_reply(distance),
            None => links,
        };
        Tag {
            utterance: utterance(message, trigger, None),
            mentions: past.mentions(),
            unlinked: f64::from(links.starts_new()),
            links: self.linked(&links),
            ours: Languages::shipped().ours_in(asking.text),
            rests_on: self.rested_on(asking.sources),
            is_reply: reply.is_some(),
            is_tag: asking.is_tag,
            is_bare,
            is_narrowed: trigger.stems.len() < lexical::stems(asking.text).len(),
            cluster: asking.seed.cluster(self.messages.iter().rev().copied(), message.message.sent_at).count(),
        }
    }

    /// An answer of the bot and what it rests on, as far as they are candidates.
    fn rested_on(&self, sources: Option<&Sources>) -> Vec<usize> {
        let is_of = |stored: &StoredMessage, sources: &Sources| {
            stored.message.id == sources.of || sources.used.iter().any(|(seq, _)| *seq == stored.seq)
        };
        let places = sources
            .into_iter()
            .flat_map(|sources| (0..self.messages.len()).filter(move |place| is_of(self.messages[*place], sources)));
        places.collect()
    }

    /// The candidates made ready to be compared. How slow the chat is shows also in how long a trigger comes `after` them.
    pub(in crate::context) fn corpus(&self, after: Option<f64>) -> Corpus<'_> {
        let candidates = self.messages.iter().zip(self.readings).zip(&self.replies);
        let utterances: Vec<Utterance<'_>> =
            candidates.map(|((stored, reading), reply)| utterance(stored, reading, *reply)).collect();
        let slowness = slowness(utterances.iter().map(|utterance| utterance.at).chain(after));
        Corpus::new(utterances, slowness)
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
}

fn utterance<'a>(stored: &StoredMessage, features: &'a MessageFeatures, reply: Option<usize>) -> Utterance<'a> {
    Utterance { at: seconds(stored), is_ours: stored.message.role == Role::Assistant, reply, features }
}

fn seconds(stored: &StoredMessage) -> f64 {
    stored.message.sent_at.secs() as f64
}

/// How far back a message is among `past`, 1 being the last.
fn distance_of(id: Option<MessageId>, past: &[MessageId]) -> Option<usize> {
    let id = id?;
    past.iter().rev().position(|other| *other == id).map(|back| back + 1)
}
