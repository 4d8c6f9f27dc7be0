//! Collects the input of context selection from the store, without network or model.
//!
//! Start with [`gather`] and [`window`]. `feature_cache` computes the features of messages.

mod feature_cache;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

pub use feature_cache::FeatureCache;

use crate::recall::Recaller;
use chime_core::trigger::{Languages, is_generic};
use chime_core::{Conversation, Language, MessageId, Part, Reason, Role, Seq, StoredMessage, Timestamp, Zone};
use chime_relevance::context::by_time_or_member::{AskedSpan, asked_spans, said};
use chime_relevance::context::context_window::ContextWindow;
use chime_relevance::context::features::lexical::says_little;
use chime_relevance::context::features::message::{MessageAddress, address};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_relevance::context::features::token::{Quick, QuickSet};
use chime_relevance::context::history::{History, Sources, Summarized};
use chime_relevance::context::long_thread::ThreadMessage;
use chime_relevance::context::older_messages::query::OlderQuery;
use chime_relevance::context::older_messages::rerank::{RerankWeights, Reranked, rerank};
use chime_relevance::context::open_question::{self, OpenQuestion};
use chime_relevance::context::params::Params;
use chime_relevance::context::past::Past;
use chime_relevance::context::window::get_smart_context_with;
use chime_relevance::retrieval::Stretch;
use chime_store::{Reader, answers, chats, messages, outbox};

/// Maximum number of replies to a message that are loaded.
const REPLIES: usize = 20;
/// A message to another member that is at most this old counts as an open talk between them.
const OPEN_TALK: Duration = Duration::from_hours(1);
/// A trigger without a reply may refer to an answer of the bot among this many messages before it.
const OWN_ANSWER_WITHIN: usize = 5;

/// Trigger whose context is to be loaded, and how it was understood.
#[derive(Debug, Clone)]
pub struct TriggerInput {
    pub trigger: StoredMessage,
    /// Text without the bot's name.
    pub ask: String,
    /// `true` if the message tags the bot, `false` if it only continues the conversation with it.
    pub is_tag: bool,
    pub language: Language,
    /// Time zone of the conversation.
    pub zone: Zone,
}

/// Loads the messages before the trigger and all messages reachable by reply links, with their features.
pub fn gather(
    conn: &Reader,
    asked: TriggerInput,
    params: &Params,
    features: &FeatureCache,
) -> chime_store::Result<History> {
    let TriggerInput { mut trigger, ask, is_tag, language, zone } = asked;
    let anchor_withheld = match trigger.message.reply_to {
        Some(parent) => messages::is_withheld(conn, trigger.message.chat, parent)?,
        None => false,
    };
    if anchor_withheld {
        // The trigger quotes a message whose text may not be shown, so the quote is removed too.
        trigger.message.quote = None;
        trigger.message.snapshot = None;
    }
    let moment = (trigger.message.sent_at, trigger.message.id);
    // Loads twice the window: to find what the oldest messages in the window reply to, the messages before them are
    // needed.
    let mut earlier = messages::before(conn, trigger.conversation(), moment, 2 * WINDOW)?;
    let recent = earlier.split_off(earlier.len().saturating_sub(WINDOW));
    let mut evidence = features.features(conn, &trigger, &ask, &earlier, &recent)?;
    let mut found = Links::new(&trigger, &recent);
    found.follow_up(conn, &trigger, true, params.chain_depth)?;
    let anchor = found.found.first().cloned();
    if let Some(anchor) = &anchor {
        found.add_neighbours(conn, anchor, Params::ANCHOR_BESIDE)?;
        found.add_all(messages::replies_to(conn, anchor.message.chat, anchor.message.id, REPLIES)?);
    }
    // Only messages that may be in the window need the messages that they reply to.
    for member in recent.iter().rev().take(params.seed.lookback_limit) {
        found.follow_up(conn, member, false, params.chain_depth)?;
    }
    found.complete_albums(conn, &recent, params.seed.lookback_limit)?;
    let sources = found.add_sources(conn, &trigger, anchor.as_ref().or_else(|| own_answer(&recent, &trigger, &ask)))?;
    // Messages added by links, such as an old anchor (the message that the trigger replies to) and its neighbours, are
    // candidates too.
    let read = features.further_back(conn, &found.found)?;
    evidence.readings.extend(found.found.iter().map(address).zip(read));
    let (mut linked, evidence) = (found.found, Arc::new(evidence));
    let members = chats::members(conn, trigger.chat)?;
    let asked = open_question::read(&trigger, &ask, language, zone, &members);
    let mut meant = Vec::new();
    for wanted in asked_spans(&asked, &trigger) {
        meant.extend(told_in(conn, &trigger, wanted)?);
    }
    let given = said(&asked, &trigger, &meant, &evidence);
    let chosen: HashSet<Seq> = given.iter().flatten().map(|chosen| chosen.seq).collect();
    let known: HashSet<Seq> = recent.iter().chain(&linked).map(|stored| stored.seq).collect();
    linked.extend(meant.into_iter().filter(|stored| chosen.contains(&stored.seq) && !known.contains(&stored.seq)));
    let is_open = !is_generic(&ask);
    let question = OpenQuestion::of(&trigger, asked).filter(|_| is_open);
    Ok(History { trigger, anchor_withheld, recent, linked, ask, is_tag, given, question, sources, evidence })
}

/// Returns the messages before the trigger that lie in the time span of a question such as “what happened today?”,
/// oldest first: the newest ones, or of a named span with very many, some of each part of it.
fn told_in(conn: &Reader, trigger: &StoredMessage, wanted: AskedSpan) -> chime_store::Result<Vec<StoredMessage>> {
    /// Maximum number of messages read: more than an answer can use.
    const READ: usize = 1_000;
    /// Number of equally long parts of a span with more messages.
    const PARTS: u32 = 10;
    let (conversation, now) = (trigger.conversation(), (trigger.message.sent_at, trigger.message.id));
    let span = match wanted {
        AskedSpan::Newest => return messages::before(conn, conversation, now, READ),
        AskedSpan::Within(span) => span,
    };
    let newest = |from: Timestamp, to: Timestamp, count: usize| {
        let mut found = messages::before(conn, conversation, (to, MessageId(0)).min(now), count)?;
        found.retain(|stored| stored.message.sent_at >= from);
        chime_store::Result::Ok(found)
    };
    let found = newest(span.from, span.to, READ)?;
    if found.len() < READ {
        return Ok(found);
    }
    let until = span.to.min(now.0);
    let bound = |part: u32| span.from.plus(until.since(span.from) / PARTS * part);
    let mut found = Vec::new();
    for part in 0..PARTS {
        let to = if part + 1 == PARTS { span.to } else { bound(part + 1) };
        found.extend(newest(bound(part), to, READ / PARTS as usize)?);
    }
    Ok(found)
}

/// Selects the messages for the prompt around `history`, and adds older messages that the word index finds.
pub fn window(conn: &Reader, history: &History, params: &Params, recaller: &Recaller) -> ContextWindow {
    window_around(conn, history, params, recaller, |_| None)
}

/// Selects the messages for the prompt like [`window`]. `summarize` gets the oldest messages of the trigger's thread
/// and may return a summary that replaces them.
pub fn window_around(
    conn: &Reader,
    history: &History,
    params: &Params,
    recaller: &Recaller,
    summarize: impl FnOnce(&[ThreadMessage]) -> Option<Summarized>,
) -> ContextWindow {
    let (conversation, until) = (history.trigger.conversation(), history.trigger.message.sent_at);
    let past = Kept { conn, conversation, recaller };
    let mut window = get_smart_context_with(history, params, &past, summarize);
    if let Some(first) = history.recent.first() {
        let withheld = messages::withheld_answers(conn, conversation, first.message.sent_at, until);
        let withheld = withheld.inspect_err(|error| tracing::warn!(%error, "cannot count withheld answers"));
        window.left_out.extend(withheld.unwrap_or_default());
    }
    window
}

/// Older messages of a conversation, loaded from the store. If the index cannot be read, there are none, since an
/// answer is possible without them.
struct Kept<'a> {
    conn: &'a Reader,
    conversation: Conversation,
    recaller: &'a Recaller,
}

impl Past for Kept<'_> {
    fn older(&self, query: &OlderQuery) -> Vec<Reranked> {
        let met = self.recaller.by_words(self.conn, self.conversation, &query.words, query.before);
        let met = met.inspect_err(|error| tracing::warn!(%error, "nothing older than the last messages is looked at"));
        rerank(query, met.unwrap_or_default(), RerankWeights::shipped())
    }

    fn stretches(&self, question: &OpenQuestion) -> Option<Vec<Stretch>> {
        let found = self.recaller.stretches(self.conn, self.conversation, &question.sought());
        found.inspect_err(|error| tracing::warn!(%error, "nothing is looked for by the words of a question")).ok()
    }
}

/// Returns the bot's recent answer that a trigger without a reply may refer to: preferably an answer to the same
/// member, else the newest to anybody. The latter is not returned if the trigger has no words and its author is talking
/// with other members.
fn own_answer<'a>(recent: &'a [StoredMessage], trigger: &StoredMessage, ask: &str) -> Option<&'a StoredMessage> {
    let author = trigger.message.sender.id;
    let asked: Vec<MessageId> =
        recent.iter().filter(|it| it.message.sender.id == author).map(|it| it.message.id).collect();
    let answers = || recent.iter().rev().take(OWN_ANSWER_WITHIN).filter(|it| it.message.role == Role::Assistant);
    let is_to_author = |it: &&StoredMessage| it.message.reply_to.is_some_and(|id| asked.contains(&id));
    let languages = Languages::shipped();
    let is_wordless = is_generic(ask) && !languages.goes_on(ask);
    let to_others = || answers().next().filter(|_| !(is_wordless && has_open_talk(recent, trigger)));
    answers().find(is_to_author).or_else(to_others)
}

/// Returns `true` if the author of `trigger` recently wrote a substantial message that was neither to the bot nor a
/// reply to its answers.
fn has_open_talk(recent: &[StoredMessage], trigger: &StoredMessage) -> bool {
    let ours = || recent.iter().filter(|it| it.message.role == Role::Assistant);
    let with_us: HashSet<MessageId> =
        ours().flat_map(|it| [Some(it.message.id), it.message.reply_to]).flatten().collect();
    let is_with_us = |id: MessageId| with_us.contains(&id);
    let opened = trigger.message.sent_at.minus(OPEN_TALK);
    recent.iter().map(|it| &it.message).filter(|it| it.sender.id == trigger.message.sender.id).any(|it| {
        let is_to_us = is_with_us(it.id) || it.reply_to.is_some_and(is_with_us);
        it.sent_at >= opened && !is_to_us && !says_little(&it.text, |_| true)
    })
}

/// Older messages found by reply links and other references, each once. Messages already in the window are not
/// repeated.
struct Links {
    /// Parents of the messages in the window: reply chains pass through these without a query.
    parents: Quick<MessageAddress, Option<MessageId>>,
    seen: QuickSet<MessageId>,
    found: Vec<StoredMessage>,
}

impl Links {
    fn new(trigger: &StoredMessage, recent: &[StoredMessage]) -> Self {
        let mut seen: QuickSet<_> = recent.iter().map(|stored| stored.message.id).collect();
        seen.insert(trigger.message.id);
        let parents = recent.iter().map(|stored| (address(stored), stored.message.reply_to)).collect();
        Self { parents, seen, found: Vec::new() }
    }

    fn add(&mut self, stored: StoredMessage) {
        if self.seen.insert(stored.message.id) {
            self.found.push(stored);
        }
    }

    fn add_all(&mut self, stored: Vec<StoredMessage>) {
        stored.into_iter().for_each(|one| self.add(one));
    }

    /// Adds the message that `from` replies to, its parent, and so on, up to `depth` steps. Stops before a message of
    /// the system, such as a command's output, unless the trigger replies to it directly.
    fn follow_up(
        &mut self,
        conn: &Reader,
        from: &StoredMessage,
        is_trigger: bool,
        depth: usize,
    ) -> chime_store::Result<()> {
        let mut parent = from.message.reply_to;
        for _ in 0..depth {
            let Some(id) = parent else { break };
            if let Some(known) = self.parents.get(&(from.message.chat, id)) {
                parent = *known;
                continue;
            }
            let Some(stored) = messages::find(conn, from.message.chat, id)? else { break };
            let is_pointed_at = is_trigger && Some(id) == from.message.reply_to;
            if stored.message.role == Role::System && !is_pointed_at {
                break;
            }
            parent = stored.message.reply_to;
            self.add(stored);
        }
        Ok(())
    }

    /// Adds up to `limit` messages before and after an old anchor (the message that the trigger replies to).
    fn add_neighbours(&mut self, conn: &Reader, anchor: &StoredMessage, limit: usize) -> chime_store::Result<()> {
        let moment = (anchor.message.sent_at, anchor.message.id);
        self.add_all(messages::before(conn, anchor.conversation(), moment, limit)?);
        self.add_all(messages::after(conn, anchor.conversation(), moment, limit)?);
        Ok(())
    }

    /// Adds the messages that an earlier answer of the bot was based on, if they still exist and belong to this
    /// conversation. Returns `None` if `answer` is no recorded answer of the bot.
    fn add_sources(
        &mut self,
        conn: &Reader,
        trigger: &StoredMessage,
        answer: Option<&StoredMessage>,
    ) -> chime_store::Result<Option<Sources>> {
        let Some(carrier) = answer.filter(|stored| stored.message.role == Role::Assistant) else { return Ok(None) };
        let part = outbox::by_message(conn, carrier.message.chat, carrier.message.id)?;
        let Some(id) = part.and_then(|part| part.answer) else { return Ok(None) };
        let Some(record) = answers::find(conn, id)? else { return Ok(None) };
        let mut sources = Sources { of: carrier.message.id, used: Vec::new() };
        for chosen in &record.window {
            let is_cited = record.sources.iter().any(|source| source.id == format!("m{}", chosen.seq));
            // What a tool found matters only if the answer cites it.
            if (chosen.reason == Reason::Tool || chosen.reason.part() == Part::Surroundings) && !is_cited {
                continue;
            }
            // Skips the query for messages that are already loaded, which are the majority.
            if !self.seen.contains(&chosen.id) {
                match messages::by_seq(conn, trigger.chat, chosen.seq)? {
                    Some(stored) if stored.conversation() == trigger.conversation() => self.add(stored),
                    Some(_) | None => continue,
                }
            }
            sources.used.push((chosen.seq, is_cited));
        }
        Ok(Some(sources))
    }

    fn complete_albums(&mut self, conn: &Reader, recent: &[StoredMessage], limit: usize) -> chime_store::Result<()> {
        let near = recent.iter().rev().take(limit).chain(&self.found);
        let albums: HashSet<_> =
            near.filter_map(|stored| Some((stored.message.chat, stored.message.album.clone()?))).collect();
        for (chat, album) in albums {
            self.add_all(messages::album(conn, chat, &album)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
