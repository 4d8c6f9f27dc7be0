//! Finds the suggestion that a question follows up on, and resolves the question. If a step fails, the question is
//! answered as it is written.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::followup::show::question;
use crate::followup::{
    ClassifiedQuestion, ClassifierInput, EarlierSuggestion, FollowUpTables, MAX_UNKNOWN, ReplyTo, StoredSuggestion,
    SuggestionQuery, answered, choose, classify, excluded, fold, is_of_messages, names_items, origin, repeats_title,
    resolve, restate,
};
use crate::sanitize::clean_name;
use chime_core::texts::notices;
use chime_core::trigger::{asks_to_choose, calls_bot, is_generic, is_small_talk};
use chime_core::{
    AnswerId, AnswerRecord, FollowUp, FoundBy, Intent, Item, Price, Reset, Role, Seq, StoredMessage, SuggestedList,
    Unclear, UserId,
};
use chime_relevance::context::ContextWindow;
use chime_store::follow_ups::Suggestion;
use chime_store::{Language, Reader, answers, chats, follow_ups, messages, outbox};

/// Number of newest suggestions of a conversation on which a question may follow up.
const SUGGESTIONS: u32 = 20;
/// Maximum number of items that are read from a chain of suggestions. It is higher than the number of items that a
/// follow-up excludes.
const ITEMS: usize = 60;
/// Without a model that judges, “more” refers to a list if at most this many messages of members came after it.
const NEXT: usize = 4;
/// Number of messages for which an answer of the bot about something else counts: "another one" means that answer.
const OTHER_ANSWER: usize = 2;
/// A clarifying question may be answered without a reply if it is among this many messages before the answer.
const ASKED_BACK_WITHIN: usize = 4;
/// The prompt mentions the items of a list if at most this many messages of members came after it.
const TOLD_WITHIN: usize = 30;
/// Longest time for which a list counts unless the question replies to it.
const TOLD_FOR: Duration = Duration::from_hours(3 * 24);
/// Maximum distance in sequence numbers between a suggestion and the question. If it is larger, the messages between
/// them are not counted, since the suggestion is too far back anyway.
const FAR: u32 = 500;
/// Maximum number of words of a message that answers a clarifying question without replying to it.
const CHOICE_WORDS: usize = 4;

/// A question, before its suggestion is found.
pub struct FollowUpQuestion<'a> {
    pub trigger: &'a StoredMessage,
    pub ask: &'a str,
    pub generic: bool,
    pub language: Language,
    pub window: &'a ContextWindow,
    pub member: UserId,
    /// `true` if no model is configured, which would judge if the question is about a list.
    pub is_offline: bool,
}

/// A question with the suggestion that it follows up on.
#[derive(Debug, Default)]
pub struct FollowUpContext {
    pub reading: ClassifiedQuestion,
    pub stored: Option<StoredSuggestion>,
    /// The resolved follow-up, if the member's reply to a clarifying question chose a candidate.
    settled: Option<FollowUp>,
    /// The lists that the question may refer to, the likeliest first, which the prompt mentions.
    suggested: Vec<SuggestedList>,
    /// Messages of the earlier suggestion, which become sources of the answer.
    pub rests_on: Vec<Seq>,
    /// Last message of the list that the question most likely refers to, if hardly anything was said after it.
    list_end: Option<Seq>,
    /// `true` if the question seems to be about the things of the likeliest list, although not clearly enough to follow
    /// up on it.
    asks_which_one: bool,
    /// Question with which a member ended the last search for suggestions.
    started_over: Option<Seq>,
}

/// Suggested items that an answer without a model shows instead of messages.
pub struct ItemsWithoutModel<'f> {
    pub items: Vec<&'f Item>,
    /// Last message of the list, if what was said after it belongs to the answer too.
    pub and_after: Option<Seq>,
}

pub fn find(conn: &Reader, asked: &FollowUpQuestion<'_>) -> chime_store::Result<FollowUpContext> {
    let conversation = asked.trigger.conversation();
    let started_over = follow_ups::started_over(conn, conversation)?;
    Ok(FollowUpContext { started_over, ..found_context(conn, asked)? })
}

fn found_context(conn: &Reader, asked: &FollowUpQuestion<'_>) -> chime_store::Result<FollowUpContext> {
    let reply = replied_to(conn, asked)?;
    if let Some((answer, pending)) = &reply.pending
        && let Some(found) = chosen(conn, asked, *answer, pending)?
    {
        return Ok(found);
    }
    let suggestions =
        follow_ups::suggestions(conn, asked.trigger.chat, asked.trigger.message.forum_topic, SUGGESTIONS)?;
    let mut earlier = Vec::with_capacity(suggestions.len());
    for suggestion in &suggestions {
        earlier.push(EarlierSuggestion {
            answer: suggestion.answer,
            chain: suggestion.chain,
            members: suggestion.members.clone(),
            messages: messages_of(conn, asked, suggestion)?,
        });
    }
    let thread: BTreeSet<Seq> = asked.window.focus().map(|entry| entry.message.seq).collect();
    let standpoint = SuggestionQuery { reply: reply.to, thread: &thread };
    match origin(&earlier, &standpoint) {
        None => Ok(unbound(asked)),
        Some((answer, found_by)) => context_of(conn, asked, &earlier, answer, found_by),
    }
}

/// Follows up on the suggestion `answer` if the question replies to it, starts over, or is clearly a follow-up with
/// nothing but small talk since. Otherwise the question is answered as it is written: the prompt mentions the lists of the
/// talk, and the model decides if one is meant.
fn context_of(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    earlier: &[EarlierSuggestion],
    answer: AnswerId,
    found_by: FoundBy,
) -> chime_store::Result<FollowUpContext> {
    let Some(mut stored) = load(conn, asked, answer, found_by)? else { return Ok(unbound(asked)) };
    let reading = read(asked, asked.ask, Some(&stored.shown));
    let since = talk_since(conn, asked, earlier, &stored)?;
    let starts_over_within = if reading.unknown == 0 { TOLD_WITHIN } else { 0 };
    let starts_over = reading.start_over && since <= starts_over_within;
    let is_reply = found_by == FoundBy::Reply;
    let others = match asked.is_offline || is_reply || starts_over {
        true => Vec::new(),
        false => others_in_play(conn, asked, earlier, answer, &reading)?,
    };
    let is_own = earlier.iter().any(|it| it.answer == answer && it.members.contains(&asked.member));
    let near = if asked.is_offline { NEXT } else { 0 };
    let names = names_items(asked.ask, &stored.shown);
    // A reply to another message is about that one.
    let is_clear = asked.trigger.message.reply_to.is_none() && is_clear_follow_up(&reading, names, since, near);
    // "What else?" after a list of tasks asks for no suggestions.
    let is_recipe = stored.frame.kind.as_deref() == Some("recipe");
    let is_reply_to_list = is_reply && !reading.has_question_word && !is_recipe;
    let is_possible = stored.is_offer() || !reading.intent.suggests() || is_reply_to_list;
    // If there are several lists, "more" means the newest only if this member asked for it, and "the second" of another
    // member may be of any. A whole wish of another member ("suggest restaurants" after books) begins a new search.
    let is_search = stored.frame.intent.suggests() || !reading.intent.suggests();
    let is_new_search = reading.intent == Intent::Suggest && !is_own;
    let is_sure = others.is_empty() && !is_new_search || names || is_own && is_search;
    if starts_over || is_possible && (is_clear && is_sure || is_reply) {
        let rests_on = messages_of_chain(conn, earlier, answer)?;
        let list_end = (since <= NEXT).then(|| last_message(earlier, answer)).flatten();
        let suggested = vec![list_of(conn, asked, &stored)?];
        may_suggest_fitting(conn, &reading, &mut stored)?;
        let stored = Some(stored);
        return Ok(FollowUpContext { reading, stored, suggested, rests_on, list_end, ..FollowUpContext::default() });
    }
    let plain = unbound(asked);
    // "Suggest some more films" is a wish of its own only where no film is near.
    let asks_for_more = matches!(reading.intent, Intent::More | Intent::Cheaper | Intent::Budget);
    let is_new_wish = !asks_for_more && resolve(asked.ask, &plain.reading, None).needs_prompt_slot();
    let is_mentioned = is_reply || since <= TOLD_WITHIN && is_told(conn, &reading, asked.ask, &stored)?;
    if is_new_wish && !asked.is_offline || !is_mentioned && others.is_empty() {
        return Ok(plain);
    }
    let (mut suggested, mut rests_on, mut list_end) = (Vec::new(), Vec::new(), None);
    if is_mentioned {
        let is_next = since == 0 && others.is_empty() && stored.is_offer();
        let wants_others = is_next && goes_on(&reading, is_own);
        suggested.push(SuggestedList { wants_others, ..list_of(conn, asked, &stored)? });
        rests_on.extend(messages_of_chain(conn, earlier, answer)?);
        list_end = last_message(earlier, answer).filter(|_| since <= NEXT);
    }
    for other in others {
        // A list that was written again is shown once.
        let has_all = |list: &SuggestedList| {
            other.listed.iter().all(|item| repeats_title(&item.shown, list.items.iter().map(Item::title)))
        };
        if suggested.iter().any(has_all) {
            continue;
        }
        suggested.push(list_of(conn, asked, &other)?);
        rests_on.extend(messages_of_chain(conn, earlier, other.answer)?);
    }
    let chooses = reading.asks_which_one || asks_to_choose(asked.ask);
    let asks_which_one = chooses && (reading.kind.is_none() || reading.kind == stored.frame.kind);
    let reading = if asks_for_more { reading } else { plain.reading };
    Ok(FollowUpContext { reading, suggested, rests_on, list_end, asks_which_one, ..FollowUpContext::default() })
}

/// Returns the newest list of each other chain that the prompt would mention to the question.
fn others_in_play(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    earlier: &[EarlierSuggestion],
    answer: AnswerId,
    reading: &ClassifiedQuestion,
) -> chime_store::Result<Vec<StoredSuggestion>> {
    let mut chains: BTreeSet<AnswerId> = earlier.iter().filter(|it| it.answer == answer).map(|it| it.chain).collect();
    let mut found = Vec::new();
    for other in earlier.iter().filter(|it| chains.insert(it.chain)) {
        let Some(stored) = load(conn, asked, other.answer, FoundBy::Thread)? else { continue };
        let is_possible = stored.is_offer() || !reading.intent.suggests();
        let is_near = is_possible && talk_since(conn, asked, earlier, &stored)? <= TOLD_WITHIN;
        if is_near && is_told(conn, reading, asked.ask, &stored)? {
            found.push(stored);
        }
    }
    Ok(found)
}

/// Returns `true` if a question mentions things of a list by their place or a pronoun, or the whole list.
fn refers_to_shown(reading: &ClassifiedQuestion) -> bool {
    !reading.mentions.places.is_empty() || reading.mentions.item.is_some() || reading.is_about_list
}

/// Returns `true` if the prompt mentions the list to a question that is not resolved. A list of what messages say is no
/// offer and is mentioned only to a question that refers to it.
fn is_told(
    conn: &Reader,
    reading: &ClassifiedQuestion,
    ask: &str,
    list: &StoredSuggestion,
) -> chime_store::Result<bool> {
    let refers = refers_to_shown(reading) || reading.asks_which_one || names_items(ask, &list.shown);
    // One citation may be of a wish: "for those who eat no meat [1]".
    let is_of_them = |record: AnswerRecord| is_of_messages(&record.text, list.listed.len());
    Ok(list.is_offer() || refers || !answers::find(conn, list.answer)?.is_some_and(is_of_them))
}

fn list_of(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    stored: &StoredSuggestion,
) -> chime_store::Result<SuggestedList> {
    let trigger = follow_ups::suggestion_of(conn, stored.answer)?.map(|suggestion| suggestion.trigger);
    let wish = trigger.map_or(Ok(None), |trigger| messages::by_seq(conn, asked.trigger.chat, trigger))?;
    Ok(SuggestedList {
        asked_by: wish.map(|wish| clean_name(&wish.message.sender.name)).unwrap_or_default(),
        wanted: stored.frame.wanted.clone(),
        items: stored.listed.clone(),
        also_listed: excluded(&stored.shown, None).into_iter().filter(|item| item.id.answer != stored.answer).collect(),
        is_offer: stored.is_offer(),
        wants_others: false,
    })
}

/// Removes the things from what must not be suggested again whose lines say what the question wants: "without cable".
fn may_suggest_fitting(
    conn: &Reader,
    reading: &ClassifiedQuestion,
    stored: &mut StoredSuggestion,
) -> chime_store::Result<()> {
    if reading.refused.is_empty() {
        return Ok(());
    }
    let text = answers::find(conn, stored.answer)?.map(|record| record.text).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(|line| format!(" {} ", fold(line))).collect();
    let has = |line: &str, words: &str| line.contains(&format!(" {words} "));
    let answer = stored.answer;
    stored.shown.retain(|item| {
        let says = |line: &String| reading.refused.iter().all(|words| has(line, words));
        item.id.answer != answer || !lines.iter().any(|line| has(line, &fold(item.title())) && says(line))
    });
    Ok(())
}

/// Returns `true` if things that the answer lists continue the list just before the question: the question asks for
/// others, refuses what was shown, or is a short wish of a member who took part (`is_own`): "lighter ones please".
fn goes_on(reading: &ClassifiedQuestion, is_own: bool) -> bool {
    /// "Write a packing list for Saturday" has more words of its own.
    const FEW_WORDS: usize = 2;
    let is_others = matches!(reading.intent, Intent::More | Intent::Cheaper | Intent::Budget | Intent::EntitySearch);
    // "We have read that already" refuses what was shown.
    let refuses = reading.not_that || reading.mentions.item.is_some() || reading.mentions.person.is_some();
    let is_wish = refuses || is_own && reading.unknown <= FEW_WORDS;
    !reading.is_question && (is_others || is_wish && reading.kind.is_none())
}

/// Returns the context of a question that is answered as it is written.
fn unbound(asked: &FollowUpQuestion<'_>) -> FollowUpContext {
    FollowUpContext { reading: read(asked, asked.ask, None), ..FollowUpContext::default() }
}

/// Returns `true` if the question is clearly a follow-up on a list. `since` is the number of messages after that list
/// which may be about something else, and `near` the largest such number with which "more" refers to the list.
fn is_clear_follow_up(reading: &ClassifiedQuestion, names_items: bool, since: usize, near: usize) -> bool {
    let mentions = &reading.mentions;
    // "It" refers to the message just before. "Not that one" refuses something of the list, whatever was said since.
    let is_it = mentions.item.is_some() && mentions.places.is_empty() && !reading.not_that;
    let is_near = since <= if is_it { 0 } else { near };
    let is_whole = reading.unknown == 0;
    match reading.intent {
        // "Who is cheaper?" may ask anything.
        Intent::More | Intent::Cheaper | Intent::Budget | Intent::EntitySearch | Intent::Suggest => {
            is_whole && is_near && (since == 0 || !reading.has_question_word)
        }
        Intent::ItemQuestion | Intent::Compare => {
            let counts_list = !mentions.places.is_empty() && !reading.counts_others && reading.unknown <= MAX_UNKNOWN;
            is_near && (names_items || is_whole || counts_list && since == 0)
        }
        Intent::Ask => names_items && reading.is_question && is_near,
    }
}

/// Returns the number of messages after a suggestion that may be about something else: of members, except for questions
/// to the bot and small talk, and the bot's answers to other questions. `usize::MAX` if the suggestion is unknown, too far
/// back to count, or too old.
fn talk_since(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    earlier: &[EarlierSuggestion],
    stored: &StoredSuggestion,
) -> chime_store::Result<usize> {
    let trigger = asked.trigger.seq;
    let is_near = |last: &Seq| trigger.0.saturating_sub(last.0) <= FAR;
    let list = earlier.iter().find(|it| it.answer == stored.answer);
    let Some((list, last)) = list.and_then(|it| Some((it, it.messages.last().copied().filter(is_near)?))) else {
        return Ok(usize::MAX);
    };
    let listed = messages::by_seq(conn, asked.trigger.chat, last)?;
    if listed.is_some_and(|it| asked.trigger.message.sent_at.since(it.message.sent_at) > TOLD_FOR) {
        return Ok(usize::MAX);
    }
    let said =
        messages::between(conn, asked.trigger.conversation(), Seq(last.0 + 1), Seq(trigger.0.saturating_sub(1)))?;
    let (mut others, mut questions, mut from) = (0, BTreeSet::new(), last);
    for own in said.iter().filter(|it| it.message.role == Role::Assistant) {
        let answer = outbox::by_message(conn, own.message.chat, own.message.id)?.and_then(|part| part.answer);
        let Some(record) = answer.map_or(Ok(None), |answer| answers::find(conn, answer))? else { continue };
        if follow_ups::find(conn, record.id)?.is_some_and(|it| it.follows == Some(list.answer)) {
            // An answer about the list brings the talk back to it.
            (others, from) = (0, own.seq);
        } else {
            others += OTHER_ANSWER * usize::from(is_other_matter(conn, asked, list, &stored.shown, &record)?);
        }
        questions.insert(record.trigger);
    }
    let is_talk = |it: &&StoredMessage| {
        let text = &it.message.text;
        let is_question = calls_bot(text) || questions.contains(&it.seq);
        it.seq > from && it.message.role == Role::User && !is_question && !is_small_talk(text)
    };
    Ok(others + said.iter().filter(is_talk).count())
}

/// Returns `true` if a later answer of the bot is about something else than the suggestion `list`, so that "more" may mean
/// that answer.
fn is_other_matter(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    list: &EarlierSuggestion,
    shown: &[Item],
    record: &AnswerRecord,
) -> chime_store::Result<bool> {
    let question = messages::by_seq(conn, asked.trigger.chat, record.trigger)?;
    let replied = match question.as_ref().and_then(|it| Some((it.message.chat, it.message.reply_to?))) {
        Some((chat, id)) => messages::find(conn, chat, id)?,
        None => None,
    };
    let is_reply = replied.is_some_and(|it| list.messages.contains(&it.seq));
    // "Thoughts?" asks about what was said before, "which is the cheapest?" about the list.
    let refers = |text: &str| {
        let reading = read(asked, text, Some(shown));
        is_generic(text)
            || reading.intent.needs_suggestion()
            || reading.asks_which_one
            || reading.is_about_list
            || reading.not_that
    };
    Ok(!is_reply && !question.is_some_and(|it| refers(&without_names(&it.message.text))))
}

/// Returns a text without the words that mention somebody.
fn without_names(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.starts_with('@')).collect::<Vec<_>>().join(" ")
}

/// The message that a question replies to, and how it relates to suggestions.
struct RepliedSuggestion {
    to: ReplyTo,
    /// If that message is a clarifying question: its answer id and its follow-up.
    pending: Option<(AnswerId, FollowUp)>,
}

fn replied_to(conn: &Reader, asked: &FollowUpQuestion<'_>) -> chime_store::Result<RepliedSuggestion> {
    let plain = |to| Ok(RepliedSuggestion { to, pending: None });
    let message = &asked.trigger.message;
    let Some(parent) = message.reply_to else {
        return Ok(RepliedSuggestion { to: ReplyTo::Nothing, pending: asked_back(conn, asked)? });
    };
    let Some(answer) = outbox::by_message(conn, message.chat, parent)?.and_then(|part| part.answer) else {
        let is_own = messages::find(conn, message.chat, parent)?.is_some_and(|it| it.message.role == Role::Assistant);
        return plain(if is_own { ReplyTo::OtherAnswer } else { ReplyTo::Member });
    };
    if !follow_ups::items_of(conn, answer)?.is_empty() {
        return plain(ReplyTo::Suggestion(answer));
    }
    let Some(follow_up) = follow_ups::find(conn, answer)? else { return plain(ReplyTo::OtherAnswer) };
    let follows = follow_up.follows.filter(|_| follow_up.reset != Some(Reset::StartOver));
    let to = follows.map_or(ReplyTo::OtherAnswer, ReplyTo::Suggestion);
    let pending = follow_up.frame.clarification.is_some().then_some((answer, follow_up));
    Ok(RepliedSuggestion { to, pending })
}

/// Returns the clarifying question that the bot has just asked this member, if the trigger is as short as an answer to
/// it. Such an answer need not be a reply: in private chats hardly any message is one.
fn asked_back(conn: &Reader, asked: &FollowUpQuestion<'_>) -> chime_store::Result<Option<(AnswerId, FollowUp)>> {
    let message = &asked.trigger.message;
    if asked.ask.split_whitespace().count() > CHOICE_WORDS || asked.ask.contains('?') {
        return Ok(None);
    }
    let before =
        messages::before(conn, asked.trigger.conversation(), (message.sent_at, message.id), ASKED_BACK_WITHIN)?;
    let Some(own) = before.iter().rfind(|it| it.message.role == Role::Assistant) else { return Ok(None) };
    let Some(answer) = outbox::by_message(conn, message.chat, own.message.id)?.and_then(|part| part.answer) else {
        return Ok(None);
    };
    let is_theirs = answers::find(conn, answer)?.is_some_and(|record| record.asked_by == asked.member);
    let pending = if is_theirs { follow_ups::find(conn, answer)? } else { None };
    Ok(pending.filter(|it| it.frame.clarification.is_some()).map(|it| (answer, it)))
}

/// Returns the follow-up that the member chose by replying to a clarifying question; `None` if the reply chooses
/// nothing.
fn chosen(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    answer: AnswerId,
    pending: &FollowUp,
) -> chime_store::Result<Option<FollowUpContext>> {
    let Some(question) = &pending.frame.clarification else { return Ok(None) };
    let reading = read(asked, asked.ask, Some(&[]));
    let Some(candidate) = choose(question, asked.ask, &reading) else { return Ok(None) };
    let mut rests_on: Vec<Seq> = answers::find(conn, answer)?.map(|record| record.trigger).into_iter().collect();
    rests_on.extend(follow_ups::triggers_of_chain(conn, answer)?);
    let settled = Some(answered(pending.clone(), candidate));
    Ok(Some(FollowUpContext { reading, settled, rests_on, ..FollowUpContext::default() }))
}

fn read(asked: &FollowUpQuestion<'_>, ask: &str, shown: Option<&[Item]>) -> ClassifiedQuestion {
    let language = asked.language.short();
    classify(&ClassifierInput { text: ask, generic: asked.generic, shown, language })
}

fn load(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    answer: AnswerId,
    found_by: FoundBy,
) -> chime_store::Result<Option<StoredSuggestion>> {
    let Some(suggestion) = follow_ups::suggestion_of(conn, answer)? else { return Ok(None) };
    let Suggestion { mut frame, trigger, created_at, .. } = suggestion;
    let wish = messages::by_seq(conn, asked.trigger.chat, trigger)?.map(|stored| stored.message);
    if let Some(edited) = wish.filter(|wish| wish.edited_at.is_some_and(|at| at > created_at)) {
        let (text, language) = (&edited.text, asked.language.short());
        let reading = classify(&ClassifierInput { text, generic: false, shown: None, language });
        restate(&mut frame, text, &reading);
    }
    let listed = follow_ups::items_of(conn, answer)?;
    let shown = follow_ups::items_of_chain(conn, answer, ITEMS)?;
    let last_item = follow_ups::last_item(conn, answer)?;
    let mut stored = StoredSuggestion { answer, found_by, frame, listed, shown, last_item };
    if !stored.is_offer() {
        // "Who brings what" was answered with members: a question about one of them is not about that list.
        let names = chats::members(conn, asked.trigger.chat)?.into_iter().map(|member| fold(&member.name));
        let names: BTreeSet<String> =
            names.flat_map(|name| [name.split(' ').next().unwrap_or_default().to_owned(), name]).collect();
        stored.shown.retain(|item| !names.contains(&fold(item.title())));
    }
    Ok(Some(stored))
}

fn messages_of(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    suggestion: &Suggestion,
) -> chime_store::Result<BTreeSet<Seq>> {
    let mut seqs = BTreeSet::from([suggestion.trigger]);
    for carrier in &suggestion.carriers {
        seqs.extend(messages::find(conn, asked.trigger.message.chat, *carrier)?.map(|stored| stored.seq));
    }
    Ok(seqs)
}

/// Returns the messages of all suggestions in the chain of `answer`, and the questions for them.
fn messages_of_chain(conn: &Reader, earlier: &[EarlierSuggestion], answer: AnswerId) -> chime_store::Result<Vec<Seq>> {
    let chain = earlier.iter().find(|it| it.answer == answer).map(|it| it.chain);
    let of_chain = earlier.iter().filter(|it| Some(it.chain) == chain);
    let mut messages: Vec<Seq> = of_chain.flat_map(|it| it.messages.iter().copied()).collect();
    messages.extend(follow_ups::triggers_of_chain(conn, answer)?);
    Ok(messages)
}

/// Returns the last message of the suggestion `answer`.
fn last_message(earlier: &[EarlierSuggestion], answer: AnswerId) -> Option<Seq> {
    earlier.iter().find(|it| it.answer == answer).and_then(|it| it.messages.last().copied())
}

impl FollowUpContext {
    /// Returns the suggested items if the question is about all of them and nothing else ("which is the cheapest of
    /// these?"), which only a model can answer.
    pub fn asked_about<'f>(&self, follow_up: &'f FollowUp) -> &'f [Item] {
        /// With more words of its own ("which one is Ben bringing?"), the question is about something else.
        const UNKNOWN: usize = 1;
        let ClassifiedQuestion { is_question, is_about_list, unknown, .. } = self.reading;
        let list = follow_up.suggested.first().filter(|_| is_question && is_about_list && unknown <= UNKNOWN);
        list.map(|list| list.items.as_slice()).unwrap_or_default()
    }

    /// Returns the suggested items that answer the question without a model: the items that it is about, else the items
    /// of the list that fit it, else the list. `is_unclear` tells that no message fits the question: it may then be
    /// about the list that was shown just before. `None` if the question is not about suggestions.
    pub fn without_model<'f>(&'f self, follow_up: &'f FollowUp, is_unclear: bool) -> Option<ItemsWithoutModel<'f>> {
        let only = |items: Vec<&'f Item>| ItemsWithoutModel { items, and_after: None };
        let asked_about = self.asked_about(follow_up);
        if !asked_about.is_empty() || !follow_up.items.is_empty() {
            let items = if asked_about.is_empty() { follow_up.items.iter() } else { asked_about.iter() };
            return Some(only(items.collect()));
        }
        if follow_up.reset.is_some() {
            return None;
        }
        let Some(stored) = &self.stored else {
            let list = self.suggested.first()?;
            let and_after = self.list_end.filter(|_| self.asks_which_one);
            // "Who has the key?" is not about the list, although no message fits it.
            let is_remark = is_unclear && !self.reading.is_question && self.list_end.is_some();
            let is_about_list = and_after.is_some() || is_remark;
            return is_about_list.then(|| ItemsWithoutModel { items: list.items.iter().collect(), and_after });
        };
        let frame = &follow_up.frame;
        let fits = |item: &&Item| match frame.intent {
            Intent::Cheaper | Intent::Budget => frame.budget.as_ref().is_none_or(|limit| costs_at_most(item, limit)),
            Intent::EntitySearch => item.shown.people.iter().any(|name| frame.people.contains(name)),
            _ => !follow_up.references.iter().any(|refused| refused.means == item.title()),
        };
        let is_about_items = match frame.intent {
            Intent::Cheaper | Intent::Budget | Intent::EntitySearch | Intent::ItemQuestion | Intent::Compare => true,
            Intent::More => self.reading.not_that,
            Intent::Suggest | Intent::Ask => false,
        };
        let fitting: Vec<&Item> = stored.listed.iter().filter(fits).collect();
        let items = if fitting.is_empty() { stored.listed.iter().collect() } else { fitting };
        is_about_items.then(|| only(items))
    }

    /// Returns the last message that a new request for suggestions does not go on with, because a member started over.
    pub fn before_new_search(&self, follow_up: &FollowUp) -> Option<Seq> {
        self.started_over.filter(|_| follow_up.frame.intent.suggests() && follow_up.follows.is_none())
    }

    /// Resolves the question by patterns. An ambiguous reference becomes a clarifying question. If no pattern applies,
    /// the lists in `suggested` are passed on for the model to interpret.
    pub fn resolve(&self, ask: &str) -> FollowUp {
        if let Some(settled) = &self.settled {
            return settled.clone();
        }
        let mut follow_up = resolve(ask, &self.reading, self.stored.as_ref());
        if !follow_up.needs_prompt_slot() {
            follow_up.suggested.clone_from(&self.suggested);
            follow_up.asks_which_one = self.asks_which_one && self.list_end.is_some();
        }
        log(self, &follow_up);
        follow_up
    }
}

fn costs_at_most(item: &Item, limit: &Price) -> bool {
    item.shown.price.as_ref().is_none_or(|price| {
        let is_same = price.currency.is_none() || limit.currency.is_none() || price.currency == limit.currency;
        !is_same || price.amount <= limit.amount
    })
}

/// Returns the clarifying question that is sent instead of an answer, in the language of the question. `None` if
/// nothing is unclear.
pub fn clarifying(follow_up: &FollowUp, language: Language) -> Option<String> {
    let open = follow_up.frame.clarification.as_ref()?;
    let table = follow_up.frame.language.as_deref().and_then(|code| FollowUpTables::shipped().get(code));
    let code = table.map_or(language.code(), |table| &table.language.code);
    let words = notices(code);
    let asks = match open.about {
        Unclear::Person => &words.which_person,
        Unclear::Item => &words.which_item,
    };
    Some(question(asks, &open.candidates))
}

/// Logs an event of the kind `what`. The metrics count follow-ups by these events.
pub fn count(what: &str) {
    tracing::info!(r#type = what, "chat.follow_up");
}

fn log(context: &FollowUpContext, follow_up: &FollowUp) {
    let FollowUp { references, reset, excluded, frame, .. } = follow_up;
    if !references.is_empty() {
        count("resolved");
    }
    if reset.is_some() {
        count("context_switch");
    }
    if frame.clarification.is_some() {
        count("clarified");
    }
    let shown = context.stored.as_ref().map_or(0, |stored| stored.shown.len());
    if shown > excluded.len() && reset.is_none() {
        count("excluded_over_limit");
    }
}
