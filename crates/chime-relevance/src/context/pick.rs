//! From a trigger and its candidates to the focus: the candidates that the trigger points at, each with the matter that comes
//! with it (`guess`), and the set with the highest expected F1 over these guesses.
//!
//! The members of a matter come from the relatedness of pairs in a slow chat, and from the strands of sampled reply forests in
//! a busy one; between the two, from both, weighted by the chat's slowness.

mod guess;
pub mod precompute;
pub mod training;

use std::sync::Arc;

use crate::context::candidates::CandidateSet;
use crate::context::contributions::ByCandidate;
use crate::context::evidence::Evidence;
use crate::context::features::corpus::{Corpus, Utterance};
use crate::context::features::lexical;
use crate::context::features::lexical::{says_little, telling_part};
use crate::context::features::message::{MessageFeatures, address};
use crate::context::features::rhythm::slowness;
use crate::context::focus::Tag;
use crate::context::history::{History, Sources};
use crate::context::params::Params;
use crate::context::replies::antecedents::{Antecedents, Past};
use crate::context::replies::model::ReplyModel;
use crate::context::seed::SeedRule;
use crate::context::select::expected_f1::Taken;
use crate::context::strands::SampledStrands;
use chime_core::trigger::Languages;
use chime_core::{MessageId, Role, StoredMessage, UserId};

/// A trigger as the scorer reads it.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub message: &'a StoredMessage,
    /// Its words without the bot's name.
    pub text: &'a str,
    /// Whether it tags the bot. A tag with words asks about its words; another message goes on with the talk.
    pub is_tag: bool,
    /// The rule that finds the newest run of messages without a long silence.
    pub seed: SeedRule,
    /// The sources of the answer that it replies to.
    pub sources: Option<&'a Sources>,
}

impl<'a> Asking<'a> {
    pub fn of(history: &'a History, seed: SeedRule) -> Self {
        let message = &history.trigger;
        let sources = history.sources.as_ref().filter(|sources| message.message.reply_to == Some(sources.of));
        Self { message, text: &history.ask, is_tag: history.is_tag, seed, sources }
    }
}

/// The candidates that a trigger is about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Places among the candidates, best first.
    pub taken: Vec<Taken>,
    /// How likely each candidate belongs to what the trigger is about, 0 to 1.
    pub marginals: Vec<f32>,
}

/// The candidates made ready to be scored, at most [`WINDOW`](crate::context::features::rhythm::WINDOW).
struct Candidates<'a> {
    /// Oldest first. Everything else is by the places of these.
    messages: &'a [&'a StoredMessage],
    features: Vec<Arc<MessageFeatures>>,
    /// How many of them come from further back than the rest, which is unbroken.
    older: usize,
    evidence: &'a Evidence,
    links: &'a ReplyModel,
    /// How many messages back the parent of each is, and its place if it is a candidate.
    parents: Vec<Option<usize>>,
    replies: Vec<Option<usize>>,
    /// Their reply forests, if these were sampled before.
    sampled: Option<Arc<SampledStrands>>,
}

/// Selects what the trigger of `history` is about among the candidates of `pool`. `seen` takes what each feature of each
/// candidate added.
pub fn pick(pool: &CandidateSet<'_>, history: &History, params: &Params, seen: Option<&mut ByCandidate>) -> Selection {
    let (talk, asking) = (pool.talk(), Asking::of(history, params.seed));
    let candidates = Candidates::of((&talk, pool.older), &history.evidence, &params.scorers.links);
    let trigger = candidates.read(asking);
    candidates.pick(&candidates.tag(asking, &trigger), &params.scorers.matters, params.focus_limit, seen)
}

impl<'a> Candidates<'a> {
    fn of((messages, older): (&'a [&'a StoredMessage], usize), evidence: &'a Evidence, links: &'a ReplyModel) -> Self {
        let earlier = evidence.earlier.iter().copied().filter(|_| older == 0);
        let ids: Vec<MessageId> = earlier.chain(messages.iter().map(|stored| stored.message.id)).collect();
        let distance = |(place, stored): (usize, &&StoredMessage)| distance_of(stored.message.reply_to, &ids[..place]);
        let parents: Vec<Option<usize>> = (ids.len() - messages.len()..).zip(messages).map(distance).collect();
        Self {
            messages,
            features: messages.iter().map(|stored| evidence.reading(stored)).collect(),
            older,
            evidence,
            links,
            replies: (0..).zip(&parents).map(|(place, parent)| usize::checked_sub(place, (*parent)?)).collect(),
            parents,
            sampled: evidence.sampled.clone().filter(|sampled| sampled.is_of(messages)),
        }
    }
    /// Reads a trigger. Of its words those count that tell something among the candidates.
    fn read(&self, asking: Asking<'_>) -> MessageFeatures {
        let known = self.evidence.readings.get(&address(asking.message));
        let vector = known.map_or_else(Vec::new, |known| known.vector.clone());
        let mut trigger = MessageFeatures::of(&asking.message.message, asking.text, vector);
        let spread = |stem| self.features.iter().filter(|it| it.has_stem(stem)).count();
        if let Some(telling) = telling_part(asking.text, spread) {
            trigger.stems = lexical::stems(&telling);
            trigger.vector = self.evidence.embed(&telling).unwrap_or(trigger.vector);
        }
        trigger
    }

    /// What is known of a trigger among the candidates; `trigger` is what was read off it.
    fn tag<'b>(&self, asking: Asking<'_>, trigger: &'b MessageFeatures) -> Tag<'b> {
        let message = asking.message;
        let is_bare = says_little(asking.text, |stem| self.features.iter().any(|it| it.has_stem(stem)));
        let past = Past::of(&self.features, trigger);
        let ids: Vec<MessageId> = self.messages.iter().map(|stored| stored.message.id).collect();
        let reply = distance_of(message.message.reply_to, &ids);
        let antecedents = past.antecedents(self.links, is_bare).with_reply(reply);
        let links = self.linked(&antecedents);
        let of_others = (0..links.len()).filter(|place| self.is_exchange_with_others(*place, trigger.author));
        Tag {
            utterance: utterance(message, trigger, None),
            mentions: past.mentions(),
            unlinked: f64::from(antecedents.starts_new()) + of_others.map(|place| links[place]).sum::<f64>(),
            links,
            ours: Languages::shipped().ours_in(asking.text),
            rests_on: self.rested_on(asking.sources),
            is_reply: reply.is_some(),
            is_tag: asking.is_tag,
            is_bare,
            is_narrowed: trigger.stems.len() < lexical::stems(asking.text).len(),
            cluster: asking.seed.cluster(self.messages.iter().rev().copied(), message.message.sent_at).count(),
        }
    }

    /// Whether a candidate is what somebody else than `asker` asked the bot, or was answered.
    fn is_exchange_with_others(&self, place: usize, asker: UserId) -> bool {
        let is_other = |asked: usize| self.features[asked].author != asker;
        match self.messages[place].message.role {
            Role::Assistant => self.replies[place].is_none_or(is_other),
            Role::User => self.features[place].calls_bot && is_other(place),
            Role::System | Role::SystemSummary => false,
        }
    }

    /// An answer of the bot and what it rests on, as far as they are candidates.
    fn rested_on(&self, sources: Option<&Sources>) -> Vec<usize> {
        let Some(Sources { of, used }) = sources else { return Vec::new() };
        let is_of = |stored: &StoredMessage| stored.message.id == *of || used.iter().any(|(seq, _)| *seq == stored.seq);
        (0..self.messages.len()).filter(|place| is_of(self.messages[*place])).collect()
    }

    /// The candidates made ready to be compared. How slow the chat is shows also in how long a trigger comes `after` them.
    pub(in crate::context) fn corpus(&self, after: Option<f64>) -> Corpus<'_> {
        let candidates = self.messages.iter().zip(&self.features).zip(&self.replies);
        let utterances: Vec<Utterance<'_>> =
            candidates.map(|((stored, features), reply)| utterance(stored, features, *reply)).collect();
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
    let message = &stored.message;
    Utterance { at: message.sent_at.secs() as f64, is_ours: message.role == Role::Assistant, reply, features }
}

/// How far back a message is among `past`, 1 being the last.
fn distance_of(id: Option<MessageId>, past: &[MessageId]) -> Option<usize> {
    let id = id?;
    past.iter().rev().position(|other| *other == id).map(|back| back + 1)
}
