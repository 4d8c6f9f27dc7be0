//! Builds the context window of an answer step by step: the message that the trigger replies to (the anchor), the
//! sources of an earlier answer, the focus, older messages, surroundings, and the cut to the token budget.

mod picked;
mod surroundings;

use std::collections::{BTreeMap, BTreeSet};

use crate::context::candidates::{CandidateSet, Index};
use crate::context::context_window::{ContextWindow, Entry};
use crate::context::features::lexical::{self, says_little};
use crate::context::features::token::Token;
use crate::context::history::{History, Sources, Summarized};
use crate::context::long_thread::ThreadMessage;
use crate::context::older_messages::query::{Candidate, OlderQuery};
use crate::context::older_messages::rerank::Reranked;
use crate::context::params::Params;
use crate::context::past::Past;
use crate::context::pick::{Selection, pick};
use crate::context::window::picked::Picked;
use crate::context::window_size::{self, LINE_TOKENS, Pick};
use crate::retrieval::Stretch;
use chime_core::trigger::{is_generic, is_small_talk};
use chime_core::{MessageId, Omitted, Reason, Role, Seq, StoredMessage};

/// Minimum probability at which a message that was not picked still counts as part of the trigger's thread, whose
/// oldest part a summary may replace.
const SURE: f32 = 0.5;
const OMITTED_SHOWN: usize = 20;
const ANCHOR_SCORE: f64 = 1.0;
/// Minimum probability of an older message that shows that the trigger continues a subject. The window then gets the
/// full budget.
const FOUND: f64 = 0.15;
/// Factor on the probability of an older message when it competes for a place among the surroundings. Without it too
/// few older messages are shown.
const FAR: f64 = 1.3;
/// Upper bound of the probability of an older message among the surroundings. It is below [`SURE`], so that the message
/// does not count as part of the trigger's thread.
const UNSURE: f64 = 0.49;
/// Share of the token budget for stretches: runs of neighbouring messages that hold the words of a question.
const STRETCHES_SHARE: f64 = 0.6;
/// Tokens added to that share unless the question is about a time, and the largest share with them.
const STRETCHES_TOKENS: f64 = 480.0;
const LARGEST_STRETCHES_SHARE: f64 = 0.8;
/// Share of that budget for the best stretch with the rest of its talk.
const TALK_SHARE: f64 = 0.5;
/// Score of the messages of the best stretch, and the factor on the score for each further stretch.
const STRETCH_SCORE: f64 = 0.95;
const STRETCH_DECAY: f64 = 0.97;
/// Minimum score of a stretch if the question may be general, as "any ideas then?" is: it is short, and none of its
/// words occurs in the newest messages.
const SURE_STRETCH: f64 = 0.4;
/// Minimum score of the best stretch at which its messages join the focus.
const ABOUT: f64 = 0.9;
/// Number of best stretches that keep a picked message in the focus: the message must be part of one of them.
const NARROWED_TO: usize = 2;
/// Number of messages right after the anchor that stay in the focus of a reply even if their score is low.
const BEHIND_ANCHOR: usize = 3;
/// Score from which on a picked message stays in the focus of a reply, wherever it is.
const SURE_PICK: f64 = 0.6;
/// Minimum probability at which an older message joins the focus if the trigger is a reply or a question with
/// stretches. Less likely ones are shown as surroundings.
const MARKED_FOR_REPLY: f64 = 0.6;
const MARKED_BESIDE_STRETCHES: f64 = 0.4;
/// Maximum tokens of the window if the trigger starts a new subject: it then has a few surroundings only. A larger
/// budget allows this part of it, since "write to the landlord" may start a subject and still need the last talk.
const NEW_SUBJECT_TOKENS: usize = 400;
const NEW_SUBJECT_SHARE: usize = 4;
/// Share of the budget beyond a small window for the talk of the last day. In real chats it costs .003 of the coverage of
/// needed messages; without it, a question about what was just changed gets older messages with its words only.
const RUNNING_SHARE: f64 = 0.3;
const SMALL_WINDOW: usize = 1600;

/// Builds the context window of a trigger within the token budget, from `history` alone: the message it replies to, the
/// sources of the answer that it continues, and messages that are likely about the same subject.
pub fn get_smart_context(history: &History, params: &Params) -> ContextWindow {
    get_smart_context_with(history, params, &(), |_| None)
}

/// Like [`get_smart_context`], but also searches `past` for messages older than the fetched ones. `summarize` gets the
/// messages of the trigger's thread and may return a summary; the messages it covers are left out.
pub fn get_smart_context_with(
    history: &History,
    params: &Params,
    past: &impl Past,
    summarize: impl FnOnce(&[ThreadMessage]) -> Option<Summarized>,
) -> ContextWindow {
    Focused::of(history, params).window(history, params, past, summarize)
}

/// Focus of a trigger. Choosing it takes most of the time and no database access; [`Focused::window`] then searches for
/// older messages.
pub struct Focused {
    picked: Picked,
    selection: Selection,
}

impl Focused {
    pub fn of(history: &History, params: &Params) -> Self {
        let (picked, selection) = focus(&CandidateSet::new(history, &[]), history, params);
        Self { picked, selection }
    }

    /// Builds the window around the focus. Searches `past` for older messages; `summarize` is as in
    /// [`get_smart_context_with`].
    pub fn window(
        self,
        history: &History,
        params: &Params,
        past: &impl Past,
        summarize: impl FnOnce(&[ThreadMessage]) -> Option<Summarized>,
    ) -> ContextWindow {
        let Self { picked, selection } = self;
        let pool = CandidateSet::new(history, &[]);
        let found = older_query(history, &pool, &picked).map_or_else(Vec::new, |query| past.older(&query));
        let stretches = Stretches::of(history, past, params);
        let mut likely: BTreeMap<Seq, f32> = (pool.candidates.iter().zip(&selection.marginals))
            .map(|(place, share)| (pool.messages[*place].seq, *share))
            .collect();
        let nearby = || found.iter().filter(|one| !one.is_accepted);
        likely.extend(nearby().map(|one| (one.message.seq, (FAR * one.probability).min(UNSURE) as f32)));
        let ranked = ranked(&selection.marginals, &pool);
        let mut picked = picked;
        let is_picked = !picked.is_empty();
        picked.retain(|place, score| stays_in_focus(history, &pool, &stretches, place, score));
        let further = further(&found, &stretches);
        let wider = (!further.is_empty()).then(|| CandidateSet::new(history, &further));
        let (pool, mut picked) = match wider {
            Some(wider) => {
                let picked = picked.with_bridged(&pool, &wider, &found, least_marked(history, &stretches));
                (wider, picked)
            }
            None => (pool, picked),
        };
        let is_new = !is_picked && picked.is_empty() && nearby().all(|one| one.probability < FOUND);
        let is_found = stretches.best >= Some(ABOUT);
        let budget = match is_new && !is_found {
            true => params.token_budget.min(NEW_SUBJECT_TOKENS.max(params.token_budget / NEW_SUBJECT_SHARE)),
            false => params.token_budget,
        };
        let summarized = summarize(&whole_thread(&pool, &picked, &likely, params)).unwrap_or_default();
        let budget = budget.saturating_sub(summarized.tokens);
        picked.add_stretches(&pool, &stretches.shown, stretches.requires_stretch(history) && is_found);
        picked.add_surroundings(&pool, &likely, history.question.is_some());
        let running = (budget.saturating_sub(SMALL_WINDOW) as f64 * RUNNING_SHARE) as usize;
        let picks = unsummarized(picked, &pool, &summarized, running, params);
        let (entries, no_room) = window_size::pack(&pool, picks, params, budget);
        let left_out = left_out(&pool, &entries);
        ContextWindow {
            anchor: pool.anchor().map(|place| pool.messages[place].message.id),
            anchor_withheld: history.anchor_withheld,
            quoted: quoted(pool.trigger),
            omitted: omitted(&pool, &left_out, &no_room),
            left_out: BTreeSet::from_iter(left_out.iter().map(|place| pool.messages[*place].seq)),
            entries,
            known_from: history.known_from(),
            best_match: stretches.best,
            is_new: is_new && !is_found && selection.is_new,
            ranked,
            further_back: found,
        }
    }
}

/// Stretches that hold the words of a question, as many as fit into their share of the budget.
#[derive(Default)]
struct Stretches {
    /// Stretches, best first, each with the score that its messages get.
    shown: Vec<(Stretch, f64)>,
    /// Score of the best stretch, 0 if there is none; `None` if nothing was searched.
    best: Option<f64>,
}

impl Stretches {
    fn of(history: &History, past: &impl Past, params: &Params) -> Self {
        let is_open = history.given.is_none();
        let Some(question) = history.question.as_ref().filter(|_| is_open) else { return Self::default() };
        let Some(mut found) = past.stretches(question) else { return Self::default() };
        if is_bare(history) {
            found.retain(|stretch| stretch.score >= SURE_STRETCH);
            if found.is_empty() {
                return Self::default();
            }
        }
        let tokens = |stored: &StoredMessage| (params.estimate)(&stored.message.rendered()) + LINE_TOKENS;
        let budget = stretches_budget(params.token_budget as f64, !question.sought().spans.is_empty());
        let (mut stretches, mut score) = (Self { best: Some(0.0), ..Self::default() }, STRETCH_SCORE);
        let (mut left, mut seen) = (budget as usize, BTreeSet::new());
        for mut stretch in found {
            stretches.best = stretches.best.map(|best| best.max(stretch.score));
            let needed = stretch.messages.iter().filter(|stored| !seen.contains(&stored.seq)).map(tokens).sum();
            let Some(rest) = left.checked_sub(needed) else { continue };
            let mut for_talk = ((budget * TALK_SHARE) as usize).saturating_sub(needed).min(rest);
            left = rest - for_talk;
            let has_space = |stored: &StoredMessage| {
                let rest = for_talk.checked_sub(tokens(stored));
                for_talk = rest.unwrap_or(for_talk);
                rest.is_some()
            };
            let talk: Vec<StoredMessage> =
                std::mem::take(&mut stretch.rest_of_talk).into_iter().take_while(has_space).collect();
            left += for_talk;
            stretch.messages.extend(talk);
            seen.extend(stretch.messages.iter().map(|stored| stored.seq));
            stretches.shown.push((stretch, score));
            score *= STRETCH_DECAY;
        }
        stretches
    }

    /// Returns `true` if picked messages stay in the focus only if they are part of a stretch. This is so if there are
    /// stretches, and the conversation is longer than the fetched messages: there, one in seven of the picks for a
    /// question with words of its own belonged to its subject, and half of the messages in stretches.
    fn requires_stretch(&self, history: &History) -> bool {
        !self.shown.is_empty() && history.known_from().is_some()
    }

    fn contains(&self, seq: Seq) -> bool {
        self.shown.iter().take(NARROWED_TO).any(|(stretch, _)| stretch.messages.iter().any(|stored| stored.seq == seq))
    }
}

fn stretches_budget(tokens: f64, is_about_time: bool) -> f64 {
    let extra = if is_about_time { 0.0 } else { STRETCHES_TOKENS };
    (tokens * STRETCHES_SHARE + extra).min(tokens * LARGEST_STRETCHES_SHARE)
}

/// Returns `true` if the question has at most five words and none of them occurs in the conversation.
fn is_bare(history: &History) -> bool {
    says_little(&history.ask, |stem| {
        history.recent.iter().any(|stored| history.evidence.reading(stored).has_stem(stem))
    })
}

/// Returns `true` if a picked message stays in the focus. It must not be small talk, and it must be supported: by a
/// high score or its place right after the anchor if the trigger is a reply, else by a stretch if [`Stretches::requires_stretch`]
/// requires one.
fn stays_in_focus(history: &History, pool: &CandidateSet<'_>, stretches: &Stretches, place: Index, score: f64) -> bool {
    let stored = pool.messages[place];
    let is_supported = match history.trigger.message.reply_to {
        // The messages right after a message usually answer it.
        Some(_) => {
            let is_behind = |anchor: Index| (anchor..=anchor + BEHIND_ANCHOR).contains(&place);
            score >= SURE_PICK || pool.anchor().is_some_and(is_behind)
        }
        None => !stretches.requires_stretch(history) || stretches.contains(stored.seq),
    };
    // "Agreed" is small talk, but carries information as a reply to the anchor or right after a question.
    let answers_anchor =
        stored.message.reply_to.is_some() && stored.message.reply_to == history.trigger.message.reply_to;
    let is_question = |before: Index| history.evidence.reading(pool.messages[before]).is_question;
    let answers = answers_anchor || place.checked_sub(1).is_some_and(is_question);
    is_supported && (answers || !is_small_talk(&stored.message.rendered()))
}

/// Returns the minimum probability at which an older message that was found joins the focus. It is higher if the
/// subject is known already, from the message that the trigger replies to or from stretches, than for a bare trigger.
fn least_marked(history: &History, stretches: &Stretches) -> f64 {
    match history.trigger.message.reply_to {
        Some(_) => MARKED_FOR_REPLY,
        None if stretches.requires_stretch(history) => MARKED_BESIDE_STRETCHES,
        None => 0.0,
    }
}

/// Returns the older messages that were found and the messages of the stretches, each once.
fn further<'a>(found: &'a [Reranked], stretches: &'a Stretches) -> Vec<&'a StoredMessage> {
    let mut seen = BTreeSet::new();
    let of_stretches = stretches.shown.iter().flat_map(|(stretch, _)| &stretch.messages);
    found.iter().map(|one| &one.message).chain(of_stretches).filter(|stored| seen.insert(stored.seq)).collect()
}

/// Returns the picked messages, and those that likely belong to the thread although they were not picked.
fn whole_thread(
    pool: &CandidateSet<'_>,
    picked: &Picked,
    likely: &BTreeMap<Seq, f32>,
    params: &Params,
) -> Vec<ThreadMessage> {
    let is_likely = |seq: &Seq| likely.get(seq).is_some_and(|share| *share >= SURE);
    let places = (0..pool.messages.len()).filter(|place| picked.has(*place) || is_likely(&pool.messages[*place].seq));
    let message = |place: Index| {
        let StoredMessage { seq, message, .. } = pool.messages[place];
        ThreadMessage {
            seq: *seq,
            tokens: (params.estimate)(&message.rendered()),
            is_human: message.role == Role::User,
            is_anchor: pool.anchor() == Some(place),
        }
    };
    places.map(message).collect()
}

/// Returns the picks without the messages that a summary replaces. The anchor and the pinned messages always stay.
fn unsummarized(
    picked: Picked,
    pool: &CandidateSet<'_>,
    summarized: &Summarized,
    running: usize,
    params: &Params,
) -> Vec<Pick> {
    let is_summarized = |pick: &Pick| summarized.messages.contains(&pool.messages[pick.place].seq);
    let mut picks = picked.into_picks(pool, running, params.estimate);
    picks.retain(|pick| pick.reason.is_anchor() || pick.is_pinned || !is_summarized(pick));
    picks
}

/// Picks the focus, each message with its reason. Also returns the picker's probabilities, by which the surroundings
/// are ranked.
fn focus(pool: &CandidateSet<'_>, history: &History, params: &Params) -> (Picked, Selection) {
    let mut picked = Picked::default();
    let anchor = pool.anchor();
    if let Some(anchor) = anchor {
        let reason = if quoted(pool.trigger).is_some() { Reason::Quoted } else { Reason::Anchor };
        picked.add(anchor, reason, ANCHOR_SCORE);
    }
    picked.add_chain(pool, anchor, params.chain_depth);
    let sources = history.sources.as_ref().filter(|_| history.given.is_none());
    let goes_on_with = sources.filter(|_| anchor.is_none()).and_then(|sources| answer_before(pool, history, sources));
    picked.add_sources(pool, anchor.or(goes_on_with), sources);
    let selection = pick(pool, history, params, None);
    match (&history.given, goes_on_with) {
        (Some(given), _) => picked.add_given(pool, given),
        (None, Some(answer)) => picked.add_talk_since(pool, answer),
        (None, None) => {
            for taken in &selection.taken {
                picked.add(pool.candidates[taken.place], Reason::Thread, f64::from(taken.probability));
            }
            picked.add_older_parents(pool);
        }
    }
    if anchor.is_none() && goes_on_with.is_none() {
        let answer = picked.likeliest().filter(|place| is_about(pool, history, *place));
        picked.add_sources(pool, answer, sources);
    }
    picked.complete_albums(pool);
    (picked, selection)
}

/// Returns `true` if the question has no words of its own, or shares one other than a member's name with the answer at
/// `place` or with the question that it answered.
pub(in crate::context) fn is_about(pool: &CandidateSet<'_>, history: &History, place: Index) -> bool {
    let reading = |place: Index| history.evidence.reading(pool.messages[place]);
    let asked: Vec<_> = [Some(place), pool.parent(place)].into_iter().flatten().map(reading).collect();
    let is_name = |stem: &Token| {
        let mut names = pool.conversation.iter().map(|place| &pool.messages[*place].message.sender.name);
        names.any(|name| lexical::stems(name).contains(stem))
    };
    let shared = |stem: &Token| asked.iter().any(|it| it.has_stem(*stem)) && !is_name(stem);
    !has_own_words(pool, history) || lexical::stems(&history.ask).iter().any(shared)
}

/// Returns `true` if the question says what it is about. One or two words may be an instruction ("shorter"), unless they
/// occur in the conversation; more words are a new question.
fn has_own_words(pool: &CandidateSet<'_>, history: &History) -> bool {
    let is_known = |stem| {
        let mut readings = pool.conversation.iter().map(|place| history.evidence.reading(pool.messages[*place]));
        readings.any(|reading| reading.has_stem(stem))
    };
    let may_instruct = lexical::words(&history.ask).count() <= 2;
    let is_subject = |stem| !may_instruct || is_known(stem);
    !says_little(&history.ask, is_subject) && !is_generic(&history.ask)
}

/// Returns the bot's answer that the trigger continues. `None` if the trigger has words of its own, or if a member has
/// since written a message that neither replies to this answer nor addresses the bot.
fn answer_before(pool: &CandidateSet<'_>, history: &History, sources: &Sources) -> Option<Index> {
    let answer = pool.conversation.iter().rposition(|place| pool.messages[*place].message.id == sources.of)?;
    let of_it = |place: &Index| {
        let stored = pool.messages[*place];
        let is_reply = stored.message.reply_to == Some(sources.of);
        is_reply || stored.message.role != Role::User || history.evidence.reading(stored).calls_bot
    };
    let is_last_talk = pool.conversation[answer + 1..].iter().all(of_it);
    (is_last_talk && !has_own_words(pool, history)).then(|| pool.conversation[answer])
}

fn quoted(trigger: &StoredMessage) -> Option<String> {
    trigger.message.quote.clone().filter(|quote| !quote.trim().is_empty())
}

/// Builds the query for messages older than the fetched ones. `None` if everything was fetched, the focus was chosen in
/// advance, or no word is worth a search.
fn older_query(history: &History, pool: &CandidateSet<'_>, picked: &Picked) -> Option<OlderQuery> {
    let before = history.known_from().filter(|_| history.given.is_none())?;
    let shares: BTreeMap<Index, f64> = picked.shares().collect();
    let candidate = |place: &Index| -> Candidate<'_> {
        let stored = pool.messages[*place];
        (stored, history.evidence.reading(stored), shares.get(place).copied().unwrap_or(0.0))
    };
    let talk: Vec<Candidate<'_>> = pool.candidates.iter().map(candidate).collect();
    OlderQuery::of(&history.trigger, &history.ask, &talk, before)
}

fn ranked(marginals: &[f32], pool: &CandidateSet<'_>) -> Vec<MessageId> {
    let mut ranked: Vec<(usize, f32)> = pool.candidates.iter().copied().zip(marginals.iter().copied()).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    ranked.into_iter().map(|(place, _)| pool.messages[place].message.id).collect()
}

fn left_out(pool: &CandidateSet<'_>, entries: &[Entry]) -> Vec<Index> {
    let shown: BTreeSet<Seq> = entries.iter().map(|entry| entry.message.seq).collect();
    pool.conversation.iter().copied().filter(|place| !shown.contains(&pool.messages[*place].seq)).collect()
}

/// Returns up to [`OMITTED_SHOWN`] messages that were left out, oldest first, with reasons. Messages that did not fit
/// have priority, then the newest of the others.
fn omitted(pool: &CandidateSet<'_>, left_out: &[Index], no_room: &[Index]) -> Vec<Omitted> {
    let lacked_room: BTreeSet<Index> = no_room.iter().copied().collect();
    let never_picked = left_out.iter().rev().copied().filter(|place| !lacked_room.contains(place));
    let mut nearest: Vec<Index> = lacked_room.iter().rev().copied().chain(never_picked).take(OMITTED_SHOWN).collect();
    nearest.sort_unstable();
    nearest
        .into_iter()
        .map(|place| Omitted {
            id: pool.messages[place].message.id,
            why: if lacked_room.contains(&place) { "no room" } else { "about something else" }.to_owned(),
        })
        .collect()
}
