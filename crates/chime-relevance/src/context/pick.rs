//! Picks the focus among the candidates of a trigger: guesses which candidates the trigger refers to and which others
//! share their subject (`guess`), then takes the set with the highest expected F1 over these guesses.
//!
//! The members of a subject come from the relatedness of pairs, or in a busy chat from the threads of sampled reply
//! forests. For a trigger that does not tag the bot, both count: the slower the chat, the more the pairs count.

mod forests;
mod guess;
pub mod training;

use std::sync::Arc;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::candidates::CandidateSet;
use crate::context::contributions::ByCandidate;
use crate::context::expected_f1::Taken;
use crate::context::features::corpus::{Corpus, Utterance};
use crate::context::features::lexical;
use crate::context::features::lexical::{says_little, telling_part};
use crate::context::features::message::{MessageFeatures, address};
use crate::context::features::rhythm::slowness;
use crate::context::focus::TriggerFeatures;
use crate::context::history::{History, Sources};
use crate::context::params::Params;
use crate::context::replies::antecedents::{Antecedents, ReplyContext};
use crate::context::replies::model::ReplyModel;
use crate::context::seed::SeedRule;
use chime_core::trigger::{Languages, is_generic};
use chime_core::{Language, MessageId, Role, StoredMessage, UserId};

/// Input of the picker that belongs to the trigger.
#[derive(Debug, Clone, Copy)]
pub struct PickInput<'a> {
    pub message: &'a StoredMessage,
    /// Text of the trigger without the bot's name.
    pub text: &'a str,
    /// `true` if the trigger tags the bot; `false` if it only continues the conversation.
    pub is_tag: bool,
    /// Rule that finds the newest run of messages before the trigger without a long silence.
    pub seed: SeedRule,
    /// Sources of the bot's answer that the trigger replies to; `None` if it replies to no such answer.
    pub sources: Option<&'a Sources>,
}

impl<'a> PickInput<'a> {
    pub fn of(history: &'a History, seed: SeedRule) -> Self {
        let message = &history.trigger;
        let sources = history.sources.as_ref().filter(|sources| message.message.reply_to == Some(sources.of));
        Self { message, text: &history.ask, is_tag: history.is_tag, seed, sources }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// Picked candidates, best first.
    pub taken: Vec<Taken>,
    /// Probability that each candidate belongs to the subject of the trigger, 0 to 1.
    pub marginals: Vec<f32>,
    /// `true` if the trigger likely starts a new subject. Then no candidate is picked.
    pub is_new: bool,
}

/// Candidates with their features, at most [`WINDOW`](crate::context::features::rhythm::WINDOW).
struct Candidates<'a> {
    /// Messages of the candidates, oldest first. All other indices refer to this list.
    messages: &'a [&'a StoredMessage],
    features: Vec<Arc<MessageFeatures>>,
    /// Number of messages at the start of the list that come from further back, around an old anchor. The messages
    /// after them have no gaps.
    older: usize,
    evidence: &'a CandidateFeatures,
    links: &'a ReplyModel,
    /// For each message, the number of messages back to the one that it replies to. `replies` holds the index of that
    /// message, if it is a candidate.
    parents: Vec<Option<usize>>,
    replies: Vec<Option<usize>>,
}

/// Picks the candidates that the trigger of `history` is about. If `seen` is given, adds to it how much each feature
/// contributed.
pub fn pick(pool: &CandidateSet<'_>, history: &History, params: &Params, seen: Option<&mut ByCandidate>) -> Selection {
    let (talk, asking) = (pool.talk(), PickInput::of(history, params.seed));
    let candidates = Candidates::of(&talk, pool.older, &history.evidence, &params.scorers.links);
    let trigger = candidates.read(asking);
    candidates.pick(&candidates.tag(asking, &trigger), &params.scorers.subjects, params.focus_limit, seen)
}

impl<'a> Candidates<'a> {
    fn of(
        messages: &'a [&'a StoredMessage],
        older: usize,
        evidence: &'a CandidateFeatures,
        links: &'a ReplyModel,
    ) -> Self {
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
        }
    }

    /// Computes the features of a trigger. Its common words are dropped if it also has a rarer one.
    fn read(&self, asking: PickInput<'_>) -> MessageFeatures {
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

    /// Combines the trigger's features with those that depend on the candidates, such as the probability of replying to
    /// each.
    fn tag<'b>(&self, asking: PickInput<'_>, trigger: &'b MessageFeatures) -> TriggerFeatures<'b> {
        let message = asking.message;
        let is_bare = says_little(asking.text, |stem| self.features.iter().any(|it| it.has_stem(stem)));
        let past = ReplyContext::of(&self.features, trigger);
        let ids: Vec<MessageId> = self.messages.iter().map(|stored| stored.message.id).collect();
        let reply = distance_of(message.message.reply_to, &ids);
        let antecedents = past.antecedents(self.links, is_bare).with_reply(reply);
        let links = self.linked(&antecedents);
        let of_others = (0..links.len()).filter(|place| self.is_exchange_with_others(*place, trigger.author));
        TriggerFeatures {
            utterance: utterance(message, trigger, None),
            mentions: past.mentions(),
            unlinked: f64::from(antecedents.starts_new()) + of_others.map(|place| links[place]).sum::<f64>(),
            links,
            ours: Languages::shipped().ours_in(asking.text),
            is_generic: is_generic(asking.text),
            is_foreign: self.is_foreign(asking.text),
            numbers: lexical::words(asking.text).filter(|word| word.starts_with(char::is_numeric)).count(),
            meaning: self.evidence.embed_as_shipped(asking.text),
            rests_on: self.rested_on(asking.sources),
            is_reply: reply.is_some(),
            is_tag: asking.is_tag,
            is_bare,
            is_narrowed: trigger.stems.len() < lexical::stems(asking.text).len(),
            cluster: asking.seed.cluster(self.messages.iter().rev().copied(), message.message.sent_at).count(),
        }
    }

    /// Returns `true` if `text` is in another language than the newest candidates.
    fn is_foreign(&self, text: &str) -> bool {
        /// Number of candidates that tell the language.
        const NEWEST: usize = 20;
        let newest = self.messages.iter().rev().take(NEWEST).map(|stored| stored.message.text.as_str());
        Language::is_foreign(text, &newest.collect::<Vec<_>>().join("\n"))
    }

    /// Returns `true` if a candidate is a question of a member other than `asker` to the bot, or the answer to one.
    fn is_exchange_with_others(&self, place: usize, asker: UserId) -> bool {
        let is_other = |asked: usize| self.features[asked].author != asker;
        match self.messages[place].message.role {
            Role::Assistant => self.replies[place].is_none_or(is_other),
            Role::User => self.features[place].calls_bot && is_other(place),
            Role::System | Role::SystemSummary => false,
        }
    }

    /// Returns the indices of an answer of the bot and of its sources; those that are not candidates are left out.
    fn rested_on(&self, sources: Option<&Sources>) -> Vec<usize> {
        let Some(Sources { of, used }) = sources else { return Vec::new() };
        let is_of = |stored: &StoredMessage| stored.message.id == *of || used.iter().any(|(seq, _)| *seq == stored.seq);
        (0..self.messages.len()).filter(|place| is_of(self.messages[*place])).collect()
    }

    /// Builds the corpus of the candidates. `after` is the time of the trigger: the gap before the trigger counts
    /// towards the chat's slowness.
    pub(in crate::context) fn corpus(&self, after: Option<f64>) -> Corpus<'_> {
        let candidates = self.messages.iter().zip(&self.features).zip(&self.replies);
        let utterances: Vec<Utterance<'_>> =
            candidates.map(|((stored, features), reply)| utterance(stored, features, *reply)).collect();
        let slowness = slowness(utterances.iter().map(|utterance| utterance.at).chain(after));
        Corpus::new(utterances, slowness)
    }

    /// Returns the probability that the trigger continues each candidate, from its distribution over antecedents.
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

/// Returns how many messages the message `id` is from the end of `past`, where 1 is the last; `None` if `past` does not
/// hold it.
fn distance_of(id: Option<MessageId>, past: &[MessageId]) -> Option<usize> {
    let id = id?;
    past.iter().rev().position(|other| *other == id).map(|back| back + 1)
}
