//! Finds the suggestion that an ask goes on with, resolves the ask, and writes down what its answer suggests. Any of it may
//! fail: then the ask is answered as it stands.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::answer::followup::show::{question, sentence, suggestion_name, three_letters};
use crate::answer::followup::{
    Ask, Earlier, Extracted, Origin, Outcome, Reading, ReplyTo, Standpoint, Stored, Turn, answered, choose, classify,
    items, origin, repeats_title, resolve,
};
use crate::answer::notices::notices;
use crate::answer::run::Answering;
use crate::answer::run::question::Question;
use crate::context::ContextWindow;
use crate::domain::{
    AnswerId, AnswerRecord, AnswerStatus, Clarification, Conversation, FollowUp, FoundBy, Intent, Role, Seq,
    StoredMessage, Timestamp, Unclear, UserId,
};
use crate::store::follow_ups::{NewFollowUp, Suggestion};
use crate::store::{self, Language, Reader, Writer, answers, consent, follow_ups, memory, messages, outbox};

/// Suggestions of a conversation that are looked at, the newest.
const SUGGESTIONS: u32 = 20;
/// Items of a run of suggestions that are read: more than are ever left out.
const ITEMS: u32 = 60;
/// Suggestions that a clarifying question names.
const CANDIDATES: usize = 4;

/// What is known of the ask when its suggestion is looked for.
pub struct Asked<'a> {
    pub trigger: &'a StoredMessage,
    pub ask: &'a str,
    pub generic: bool,
    /// Whether the trigger itself has no words of its own: then no model is asked what it means.
    pub is_bare: bool,
    pub language: Language,
    /// The silence that ends a session, where the chat says nothing else. What was suggested before it is over unless a
    /// reply or the talk leads back to it.
    pub usual_idle: Duration,
    pub window: &'a ContextWindow,
    pub member: UserId,
    pub now: Timestamp,
}

/// An ask with the suggestion that it goes on with.
#[derive(Debug, Default)]
pub struct GoingOn {
    pub reading: Reading,
    pub stored: Option<Stored>,
    /// Settled by the member's reply to a clarifying question.
    settled: Option<FollowUp>,
    /// Others' suggestions that the ask may mean.
    open: Option<Clarification>,
    /// Whether the model may be asked what the ask means.
    may_ask: bool,
    /// Messages of the earlier suggestion: the answer rests on them.
    pub rests_on: Vec<Seq>,
}

/// Finds what an ask goes on with.
pub fn find(conn: &Reader, asked: &Asked<'_>) -> store::Result<GoingOn> {
    let reply = replied_to(conn, asked)?;
    if let Some((answer, pending)) = &reply.pending
        && let Some(found) = choice(conn, asked, *answer, pending)?
    {
        return Ok(found);
    }
    let suggestions = follow_ups::suggestions(conn, asked.trigger.chat, asked.trigger.message.thread, SUGGESTIONS)?;
    let mut earlier = Vec::with_capacity(suggestions.len());
    let idle = memory::own_idle(conn, asked.trigger.chat)?.unwrap_or(asked.usual_idle);
    let mut in_session = true;
    for suggestion in &suggestions {
        in_session = in_session && is_in_session(conn, asked, suggestion, idle)?;
        let messages = messages_of(conn, asked, suggestion)?;
        earlier.push(Earlier {
            answer: suggestion.answer,
            chain: suggestion.chain,
            asked_by: suggestion.asked_by,
            messages,
            in_session,
        });
    }
    let strand: BTreeSet<Seq> = asked.window.focus().map(|entry| entry.message.seq).collect();
    let standpoint = Standpoint { member: asked.member, reply: reply.to, strand: &strand };
    let may_ask = !asked.is_bare;
    let origin = match origin(&earlier, &standpoint) {
        Origin::Open(candidates) => taken_part(conn, asked, candidates)?,
        known => known,
    };
    match origin {
        Origin::Nothing => Ok(GoingOn { reading: read(asked, asked.ask, false), may_ask, ..GoingOn::default() }),
        Origin::Found(answer, found_by) => {
            let reading = read(asked, asked.ask, true);
            let stored = load(conn, asked, answer, found_by)?;
            let rests_on = rests_on(&earlier, answer);
            Ok(GoingOn { reading, stored, rests_on, may_ask, ..GoingOn::default() })
        }
        Origin::Open(candidates) => Ok(open(conn, asked, &suggestions, &candidates)?),
    }
}

/// Of suggestions made to others, the newest that the member went on with before: then there is nothing to ask back.
fn taken_part(conn: &Reader, asked: &Asked<'_>, candidates: Vec<AnswerId>) -> store::Result<Origin> {
    for candidate in &candidates {
        if follow_ups::took_part(conn, *candidate, asked.member)? {
            return Ok(Origin::Found(*candidate, FoundBy::Member));
        }
    }
    Ok(Origin::Open(candidates))
}

/// The reply that an ask is, as far as suggestions go.
struct Replied {
    to: ReplyTo,
    /// The clarifying answer that it replies to.
    pending: Option<(AnswerId, FollowUp)>,
}

fn replied_to(conn: &Reader, asked: &Asked<'_>) -> store::Result<Replied> {
    let plain = |to| Ok(Replied { to, pending: None });
    let message = &asked.trigger.message;
    let Some(parent) = message.reply_to else { return plain(ReplyTo::Nothing) };
    let Some(answer) = outbox::by_message(conn, message.chat, parent)?.and_then(|part| part.answer) else {
        let is_own = messages::find(conn, message.chat, parent)?.is_some_and(|it| it.message.role == Role::Assistant);
        return plain(if is_own { ReplyTo::OtherAnswer } else { ReplyTo::Member });
    };
    if !follow_ups::items_of(conn, answer)?.is_empty() {
        return plain(ReplyTo::Suggestion(answer));
    }
    let Some(follow_up) = follow_ups::find(conn, answer)? else { return plain(ReplyTo::OtherAnswer) };
    let to = follow_up.follows.map_or(ReplyTo::OtherAnswer, ReplyTo::Suggestion);
    let pending = follow_up.frame.clarification.is_some().then_some((answer, follow_up));
    Ok(Replied { to, pending })
}

/// What the member chooses by replying to a clarifying question; none where the reply chooses nothing.
fn choice(conn: &Reader, asked: &Asked<'_>, answer: AnswerId, pending: &FollowUp) -> store::Result<Option<GoingOn>> {
    let Some(question) = &pending.frame.clarification else { return Ok(None) };
    let reading = read(asked, asked.ask, true);
    let Some(candidate) = choose(question, asked.ask, &reading) else { return Ok(None) };
    let rests_on = answers::find(conn, answer)?.map(|record| record.trigger).into_iter().collect();
    if let (Unclear::Suggestion, Some(chosen)) = (question.about, question.answers.get(candidate)) {
        let stored = load(conn, asked, *chosen, FoundBy::Reply)?;
        return Ok(Some(GoingOn { reading: read(asked, &question.ask, true), stored, rests_on, ..GoingOn::default() }));
    }
    let settled = Some(answered(pending.clone(), candidate));
    Ok(Some(GoingOn { reading, settled, rests_on, ..GoingOn::default() }))
}

/// The ask may mean suggestions made to others: only a plain "more" or "cheaper" is worth a question back.
fn open(
    conn: &Reader,
    asked: &Asked<'_>,
    suggestions: &[Suggestion],
    candidates: &[AnswerId],
) -> store::Result<GoingOn> {
    let reading = read(asked, asked.ask, true);
    if !matches!(reading.intent, Intent::More | Intent::Cheaper) || !reading.is_decided() {
        return Ok(GoingOn { reading: read(asked, asked.ask, false), ..GoingOn::default() });
    }
    let mut question =
        Clarification { about: Unclear::Suggestion, candidates: vec![], answers: vec![], ask: asked.ask.to_owned() };
    let mut rests_on = Vec::new();
    for suggestion in suggestions.iter().filter(|it| candidates.contains(&it.answer)).take(CANDIDATES) {
        let items = follow_ups::items_of(conn, suggestion.answer)?;
        let titles: Vec<&str> = items.iter().map(|item| item.title()).collect();
        question.candidates.push(suggestion_name(&suggestion.frame, &titles));
        question.answers.push(suggestion.answer);
        rests_on.push(suggestion.trigger);
    }
    Ok(GoingOn { reading, open: Some(question), rests_on, ..GoingOn::default() })
}

fn read(asked: &Asked<'_>, ask: &str, in_play: bool) -> Reading {
    let language = two_letters(asked.language);
    classify(&Ask { text: ask, generic: asked.generic, in_play, language })
}

fn load(conn: &Reader, asked: &Asked<'_>, answer: AnswerId, found_by: FoundBy) -> store::Result<Option<Stored>> {
    let found = follow_ups::suggestions(conn, asked.trigger.chat, asked.trigger.message.thread, SUGGESTIONS)?;
    let of_answer = found.into_iter().find(|suggestion| suggestion.answer == answer);
    let suggestion = match of_answer {
        Some(suggestion) => Some(suggestion),
        // A reply leads back further than the newest ones.
        None => follow_ups::suggestion_of(conn, answer)?,
    };
    let Some(Suggestion { frame, used, .. }) = suggestion else { return Ok(None) };
    let listed = follow_ups::items_of(conn, answer)?;
    let shown = follow_ups::items_of_chain(conn, answer, ITEMS)?;
    let last_item = follow_ups::last_item(conn, answer)?;
    let text = answers::find(conn, answer)?.map(|record| record.text).unwrap_or_default();
    Ok(Some(Stored { answer, found_by, frame, used, listed, shown, last_item, text }))
}

fn is_in_session(conn: &Reader, asked: &Asked<'_>, suggestion: &Suggestion, idle: Duration) -> store::Result<bool> {
    let conversation = Conversation { chat: asked.trigger.chat, thread: asked.trigger.message.thread };
    let silence = follow_ups::longest_silence(conn, conversation, suggestion.created_at, asked.now)?;
    Ok(i64::try_from(idle.as_millis()).is_ok_and(|idle| silence <= idle))
}

fn messages_of(conn: &Reader, asked: &Asked<'_>, suggestion: &Suggestion) -> store::Result<BTreeSet<Seq>> {
    let mut seqs = BTreeSet::from([suggestion.trigger]);
    for carrier in &suggestion.carriers {
        seqs.extend(messages::find(conn, asked.trigger.message.chat, *carrier)?.map(|stored| stored.seq));
    }
    Ok(seqs)
}

fn rests_on(earlier: &[Earlier], answer: AnswerId) -> Vec<Seq> {
    earlier.iter().filter(|it| it.answer == answer).flat_map(|it| it.messages.iter().copied()).collect()
}

/// The chat's language, as the tables name it.
fn two_letters(language: Language) -> Option<&'static str> {
    let known = ["en", "et", "de", "es", "fr", "pt", "ru", "uk"];
    known.into_iter().find(|two| three_letters(two) == Some(language.code()))
}

impl GoingOn {
    /// What the ask is, as far as patterns tell. What they leave open is still open in it.
    pub fn resolve(&self, ask: &str, extracted: Option<&Extracted>) -> Outcome {
        if let Some(settled) = &self.settled {
            return Outcome { follow_up: settled.clone(), undecided: None };
        }
        let turn = Turn { ask, reading: &self.reading, stored: self.stored.as_ref(), extracted };
        let mut outcome = resolve(&turn);
        if let Some(open) = &self.open {
            outcome.follow_up.frame.clarification = Some(open.clone());
        }
        outcome
    }
}

impl GoingOn {
    /// Whether the patterns leave open what the ask means, and that matters: items are in play or asked for.
    fn wants_reading(&self) -> bool {
        let matters = self.stored.is_some() || matches!(self.reading.intent, Intent::Suggest | Intent::EntitySearch);
        self.may_ask && matters && self.settled.is_none() && self.open.is_none() && !self.reading.is_decided()
    }
}

/// The question that goes out instead of an answer, in the language of the ask.
pub fn clarifying(follow_up: &FollowUp, language: Language) -> Option<String> {
    let open = follow_up.frame.clarification.as_ref()?;
    let code = follow_up.frame.language.as_deref().and_then(three_letters).unwrap_or(language.code());
    let words = notices(code);
    let asks = sentence(open.about, &words.which_person, &words.which_item, &words.which_suggestion);
    Some(question(asks, &open.candidates))
}

/// What is stored of a follow-up beside its answer; none where there was none.
pub fn to_store(record: &AnswerRecord, follow_up: &FollowUp) -> Option<NewFollowUp> {
    if !follow_up.is_telling() {
        return None;
    }
    let suggests = record.status == AnswerStatus::Answered
        && follow_up.frame.intent.suggests()
        && follow_up.frame.clarification.is_none();
    let found = if suggests { items(&record.text, follow_up.frame.kind.as_deref()) } else { Vec::new() };
    let again = |item: &_| repeats_title(item, follow_up.excluded.iter().map(|shown| shown.title().to_owned()));
    if found.iter().any(again) {
        tracing::info!(r#type = "suggested_again", "chat.follow_up");
    }
    Some(NewFollowUp {
        answer: record.id,
        chat: record.chat,
        thread: record.thread,
        asked_by: record.asked_by,
        created_at: record.created_at,
        resolved: follow_up.clone(),
        items: found,
        used: None,
    })
}

/// Writes a follow-up down beside its answer, unless whoever asked opted out. What goes wrong with it is logged, and the
/// answer goes out.
pub fn save(
    tx: &Writer<'_>,
    record: &AnswerRecord,
    taken: Option<&NewFollowUp>,
    rests_on: &[Seq],
) -> store::Result<()> {
    answers::rest_on(tx, record, rests_on)?;
    let Some(taken) = taken else { return Ok(()) };
    // What they wanted is in their own words, and later asks would rest on a question that nobody may read.
    if consent::opted_out(tx, record.chat, record.asked_by)?.is_some() {
        return Ok(());
    }
    if let Err(error) = store::in_savepoint(tx, |tx| follow_ups::save(tx, taken)) {
        tracing::warn!(error_type = "follow_up", %error, "chat.error: what was suggested could not be stored");
    }
    Ok(())
}

impl Answering {
    /// What the ask means, together with the suggestion that it goes on with.
    pub(super) async fn resolve(&self, question: &mut Question) -> FollowUp {
        let extracted = match question.going_on.wants_reading() {
            true => self.extract(question).await,
            false => None,
        };
        let outcome = question.going_on.resolve(&question.history.ask, extracted.as_ref());
        let outcome = match outcome.undecided {
            Some(_) if question.going_on.may_ask => self.choose(question, outcome).await,
            _ => outcome,
        };
        let outcome = outcome.asked_back();
        log(&question.going_on, &outcome);
        outcome.follow_up
    }
}

/// Counts something about follow-ups.
pub fn count(what: &str) {
    tracing::info!(r#type = what, "chat.follow_up");
}

/// Counts what became of an ask.
fn log(going_on: &GoingOn, outcome: &Outcome) {
    let FollowUp { references, reset, excluded, frame, .. } = &outcome.follow_up;
    if going_on.stored.is_some() || frame.intent.suggests() {
        count(if outcome.follow_up.extracted { "read_by_model" } else { "read_by_patterns" });
    }
    if !references.is_empty() {
        count("resolved");
    }
    if reset.is_some() {
        count("context_switch");
    }
    if frame.clarification.is_some() {
        count("clarified");
    }
    let shown = going_on.stored.as_ref().map_or(0, |stored| stored.shown.len());
    if shown > excluded.len() && reset.is_none() {
        count("excluded_over_limit");
    }
}
