//! Finds the suggestion that a question follows up on, and resolves the question. If a step fails, the question is
//! answered as it is written.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::followup::show::question;
use crate::followup::{
    ClassifiedQuestion, ClassifierInput, answered, choose, classify, fold, is_of_messages, item_with_word, names_items,
    repeats_title, resolve, surely_names_items,
};
use crate::sanitize::{clean_name, one_line};
use chime_core::texts::notices;
use chime_core::trigger::{asks_to_choose, calls_bot, is_generic, is_small_talk};
use chime_core::{AnswerId, FollowUp, FoundBy, Intent, Item, Price, Reset, Role, Seq, StoredMessage, SuggestedList};
use chime_relevance::context::ContextWindow;
use chime_store::follow_ups::ChainedAnswer;
use chime_store::{Language, Reader, answers, chats, follow_ups, messages, outbox};

/// Number of chains of suggestions of a conversation on which a question may follow up.
const CHAINS: u32 = 10;
/// Maximum number of wishes of a chain of suggestions: the first and the newest.
const MAX_WISHES: usize = 8;
/// Maximum number of characters of a wish.
const WISH_CHARS: usize = 160;
/// Without a model that judges, “more” refers to a list if at most this many messages of members came after it.
const NEXT: usize = 4;
/// A clarifying question may be answered without a reply if it is among this many messages before the answer.
const ASKED_BACK_WITHIN: usize = 4;
/// The prompt mentions the items of a list if at most this many messages of members came after it.
const TOLD_WITHIN: usize = 30;
/// Longest time for which a list counts unless the question replies to it.
const TOLD_FOR: Duration = Duration::from_hours(3 * 24);
/// Maximum distance in sequence numbers between a suggestion and the question. If it is larger, the messages between
/// them are not counted, since the suggestion is too far back anyway.
const FAR: u32 = 500;
/// With more words unknown to the patterns, "the first" may be of anything: "What was the first thing Bob said?"
const FEW_UNKNOWN: usize = 2;
/// Maximum number of words of a message that answers a clarifying question without replying to it.
const CHOICE_WORDS: usize = 4;

/// A question, before its suggestion is found.
pub struct FollowUpQuestion<'a> {
    pub trigger: &'a StoredMessage,
    pub ask: &'a str,
    pub generic: bool,
    pub language: Language,
    pub window: &'a ContextWindow,
    /// `true` if no model is configured, which would judge if the question is about a list.
    pub is_offline: bool,
}

/// A question with the suggestion that it follows up on.
#[derive(Debug, Default)]
pub struct FollowUpContext {
    pub reading: ClassifiedQuestion,
    pub stored: Option<SuggestedList>,
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
    /// Things of the likeliest list that an answer without a model shows, because the question has hardly any other
    /// words.
    refers_to: Vec<Item>,
    /// `true` if the question seems to ask for others than those in `suggested`.
    wants_others: bool,
    /// Question with which a member ended the last search for suggestions.
    started_over: Option<Seq>,
    /// Folded names of the members of the chat, and their first words.
    pub members: BTreeSet<String>,
}

/// Suggested items that an answer without a model shows instead of messages.
pub struct ItemsWithoutModel<'f> {
    pub items: Vec<&'f Item>,
    /// Last message of the list, if what was said after it belongs to the answer too.
    pub and_after: Option<Seq>,
    /// `true` if none of the items has the price or the maker that the question asks for.
    pub none_fits: bool,
}

/// The newest list of a chain of suggestions.
struct EarlierList {
    list: SuggestedList,
    /// `true` if this member asked for any list of the chain.
    is_own: bool,
    /// `true` if it is no offer but lists what messages say.
    is_of_messages: bool,
    /// The question for the list, and the messages that show it.
    messages: BTreeSet<Seq>,
    /// The questions for all lists of the chain, and the messages that show them.
    of_chain: Vec<Seq>,
    /// Number of messages of people, except for small talk and questions to the bot about it, after the list and the
    /// bot's answers about it. `usize::MAX` if the list is too far back, or too old.
    since: usize,
    /// `true` if a later answer of the chain suggests things that could not be read.
    precedes_unread: bool,
}

/// The message that a question replies to.
enum ReplyTo {
    Nothing,
    /// A message of the bot with this list, or that answers a follow-up on it.
    List(AnswerId),
    /// An answer of the bot without a list: the question is about that answer.
    OtherAnswer,
    Member,
}

pub fn find(conn: &Reader, asked: &FollowUpQuestion<'_>) -> chime_store::Result<FollowUpContext> {
    let started_over = follow_ups::started_over(conn, asked.trigger.conversation())?;
    let names = chats::members(conn, asked.trigger.chat)?.into_iter().map(|member| fold(&member.name));
    let members = names.flat_map(|name| [name.split(' ').next().unwrap_or_default().to_owned(), name]).collect();
    let found = found_context(conn, asked, &members)?;
    Ok(FollowUpContext { started_over, members, ..found })
}

fn found_context(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    members: &BTreeSet<String>,
) -> chime_store::Result<FollowUpContext> {
    let (reply, pending) = replied_to(conn, asked)?;
    if let Some((answer, pending)) = &pending
        && let Some(found) = chosen(conn, asked, *answer, pending)?
    {
        return Ok(found);
    }
    if let ReplyTo::List(answer) = reply {
        let list = load(conn, asked, answer, FoundBy::Reply, members)?;
        return Ok(list.map_or_else(|| unbound(asked), |list| context_of(asked, list, Vec::new(), members)));
    }
    let mut lists = Vec::new();
    for answer in follow_ups::newest_lists(conn, asked.trigger.conversation(), CHAINS)? {
        lists.extend(load(conn, asked, answer, FoundBy::Thread, members)?);
    }
    let thread: BTreeSet<Seq> = asked.window.focus().map(|entry| entry.message.seq).collect();
    let is_meant = |list: &EarlierList| match reply {
        ReplyTo::Nothing => true,
        ReplyTo::Member => !list.messages.is_disjoint(&thread),
        ReplyTo::List(_) | ReplyTo::OtherAnswer => false,
    };
    let Some(at) = lists.iter().position(is_meant) else { return Ok(unbound(asked)) };
    let list = lists.remove(at);
    Ok(context_of(asked, list, lists, members))
}

/// Follows up on the list `meant` if the question replies to it, starts over, or is clearly a follow-up with nothing but
/// small talk since. Otherwise the question is answered as it is written: the prompt mentions the lists of the talk, and
/// the model decides if one is meant.
fn context_of(
    asked: &FollowUpQuestion<'_>,
    meant: EarlierList,
    others: Vec<EarlierList>,
    members: &BTreeSet<String>,
) -> FollowUpContext {
    let reading = read(asked, asked.ask, Some(&meant.list.shown));
    let starts_over_within = if reading.unknown == 0 { TOLD_WITHIN } else { 0 };
    let starts_over = reading.start_over && meant.since <= starts_over_within;
    let is_reply = meant.list.found_by == FoundBy::Reply;
    let is_possible = |it: &EarlierList| it.list.frame.is_offer || !reading.intent.suggests();
    let mentions = &reading.mentions;
    let refers = !mentions.places.is_empty() || mentions.item.is_some();
    let refers = refers || reading.is_about_list || reading.asks_which_one;
    // A list of what messages say is mentioned only to a question that refers to it.
    let is_told = |it: &EarlierList| {
        let may_be_meant = refers || !it.is_of_messages || names_items(asked.ask, &it.list.shown);
        it.since <= TOLD_WITHIN && may_be_meant
    };
    let is_near = |it: &EarlierList| !asked.is_offline && !is_reply && is_possible(it) && is_told(it);
    let near: Vec<EarlierList> = others.into_iter().filter(is_near).collect();
    // If there are several lists, "more" means the newest only if this member asked for suggestions then. A whole wish of
    // another member ("suggest restaurants" after books) begins a new search.
    // "Where does Bruno live?" is about a member, although a restaurant has the same name.
    let is_stranger = |item: &&Item| !members.contains(&fold(item.title()));
    let nameable: Vec<Item> = meant.list.shown.iter().filter(is_stranger).cloned().collect();
    let is_sure = asked.is_offline || is_reply || surely_names_items(asked.ask, &nameable);
    let names = is_sure && names_items(asked.ask, &nameable);
    let is_newest = if meant.is_own {
        near.is_empty() || meant.list.frame.intent.suggests()
    } else {
        near.is_empty() && reading.intent != Intent::Suggest
    };
    // A reply to another message is about that one.
    let is_clear = asked.trigger.message.reply_to.is_none()
        && is_clear_follow_up(&reading, names, meant.since, if asked.is_offline { NEXT } else { 0 });
    let list_end = meant.messages.last().copied().filter(|_| meant.since <= NEXT);
    let is_wish = is_reply && !reading.has_question_word;
    // What was read from sentences may be wrong, and a later suggestion that was not read may be meant.
    let is_read_surely = asked.is_offline || !meant.list.frame.is_prose && (is_reply || !meant.precedes_unread);
    if starts_over
        || is_read_surely && (is_possible(&meant) || is_wish) && (is_reply || is_clear && (names || is_newest))
    {
        let suggested = vec![meant.list.clone()];
        let (stored, rests_on) = (Some(meant.list), meant.of_chain);
        return FollowUpContext { reading, stored, suggested, rests_on, list_end, ..FollowUpContext::default() };
    }
    let plain = unbound(asked);
    // "Suggest some more films" is a wish of its own only where no film is near.
    let asks_for_more = matches!(reading.intent, Intent::More | Intent::Cheaper | Intent::Budget);
    let is_new_wish = !asks_for_more && plain.reading.intent.suggests();
    let is_told = is_reply || is_told(&meant);
    let list_end = list_end.filter(|_| is_told);
    let chooses = reading.asks_which_one || asks_to_choose(asked.ask);
    let asks_which_one = chooses && (reading.kind.is_none() || reading.kind == meant.list.frame.kind);
    let refers_to = if list_end.is_some() { referred_to(asked.ask, &reading, &meant.list, refers) } else { Vec::new() };
    let told: Vec<EarlierList> = is_told.then_some(meant).into_iter().chain(near).collect();
    if told.is_empty() || is_new_wish && !asked.is_offline {
        return plain;
    }
    let wants_others = asks_for_more || reading.not_that && !reading.is_question;
    let reading = if asks_for_more { reading } else { plain.reading };
    let mut found =
        FollowUpContext { reading, list_end, asks_which_one, refers_to, wants_others, ..FollowUpContext::default() };
    for EarlierList { list, of_chain, .. } in told {
        // A list that was written again is shown once.
        let has_all = |other: &SuggestedList| {
            list.items.iter().all(|item| repeats_title(&item.shown, other.items.iter().map(Item::title)))
        };
        if !found.suggested.iter().any(has_all) {
            found.rests_on.extend(of_chain);
            found.suggested.push(list);
        }
    }
    found
}

/// Returns the items that a question just after their list shows without a model: the one that its only own word names
/// ("the wizard one"), or all if it only refers to some ("the first two").
fn referred_to(ask: &str, reading: &ClassifiedQuestion, list: &SuggestedList, refers: bool) -> Vec<Item> {
    match reading.unknown {
        0 if refers && !reading.not_that => list.items.clone(),
        1 => item_with_word(ask, &list.items).into_iter().cloned().collect(),
        _ => Vec::new(),
    }
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
        Intent::ItemQuestion => {
            let counts_list = !mentions.places.is_empty() && !reading.counts_others && reading.unknown <= FEW_UNKNOWN;
            is_near && (names_items || is_whole || counts_list && since == 0)
        }
        Intent::Ask => names_items && reading.is_question && !reading.searches && is_near,
    }
}

/// Returns [`EarlierList::since`] of a list, which the messages `shown_by` show.
fn talk_since(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    list: &SuggestedList,
    shown_by: &BTreeSet<Seq>,
) -> chime_store::Result<usize> {
    let trigger = asked.trigger.seq;
    let Some(last) = shown_by.last().copied().filter(|last| trigger.0.saturating_sub(last.0) <= FAR) else {
        return Ok(usize::MAX);
    };
    let listed = messages::by_seq(conn, asked.trigger.chat, last)?;
    if listed.is_some_and(|it| asked.trigger.message.sent_at.since(it.message.sent_at) > TOLD_FOR) {
        return Ok(usize::MAX);
    }
    let said =
        messages::between(conn, asked.trigger.conversation(), Seq(last.0 + 1), Seq(trigger.0.saturating_sub(1)))?;
    let mut since = 0;
    for StoredMessage { message, .. } in said {
        if message.role == Role::Assistant {
            let answer = outbox::by_message(conn, message.chat, message.id)?.and_then(|part| part.answer);
            let follow_up = answer.map_or(Ok(None), |answer| follow_ups::find(conn, answer))?;
            // An answer about the list brings the talk back to it.
            if follow_up.is_some_and(|it| it.follows == Some(list.answer)) {
                since = 0;
            }
        } else if !message.sender.is_bot
            && !is_small_talk(&message.text)
            && !asks_about(asked, &message.text, &list.shown)
        {
            let parent = message.reply_to.map_or(Ok(None), |id| outbox::by_message(conn, message.chat, id))?;
            let is_reply = parent.and_then(|part| part.answer) == Some(list.answer);
            since += usize::from(!is_reply);
        }
    }
    Ok(since)
}

/// Returns `true` if a text asks the bot about the list of `shown` items ("which is the cheapest?"), or about what was
/// said before ("thoughts?").
fn asks_about(asked: &FollowUpQuestion<'_>, text: &str, shown: &[Item]) -> bool {
    if !calls_bot(text) {
        return false;
    }
    let reading = read(asked, &without_names(text), Some(shown));
    let is_about_list = reading.asks_which_one || reading.is_about_list || reading.not_that;
    is_generic(text) || is_about_list || reading.intent.needs_suggestion()
}

/// Returns a text without the words that mention somebody.
fn without_names(text: &str) -> String {
    text.split_whitespace().filter(|word| !word.starts_with('@')).collect::<Vec<_>>().join(" ")
}

/// Returns what the question replies to. If that is a clarifying question, or the bot has just asked one, also returns
/// that answer and its follow-up.
fn replied_to(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
) -> chime_store::Result<(ReplyTo, Option<(AnswerId, FollowUp)>)> {
    let message = &asked.trigger.message;
    let Some(parent) = message.reply_to else { return Ok((ReplyTo::Nothing, asked_back(conn, asked)?)) };
    let Some(answer) = outbox::by_message(conn, message.chat, parent)?.and_then(|part| part.answer) else {
        let is_own = messages::find(conn, message.chat, parent)?.is_some_and(|it| it.message.role == Role::Assistant);
        return Ok((if is_own { ReplyTo::OtherAnswer } else { ReplyTo::Member }, None));
    };
    if !follow_ups::items_of(conn, answer)?.is_empty() {
        return Ok((ReplyTo::List(answer), None));
    }
    let Some(follow_up) = follow_ups::find(conn, answer)? else { return Ok((ReplyTo::OtherAnswer, None)) };
    let follows = follow_up.follows.filter(|_| follow_up.reset != Some(Reset::StartOver));
    let to = follows.map_or(ReplyTo::OtherAnswer, ReplyTo::List);
    Ok((to, follow_up.frame.clarification.is_some().then_some((answer, follow_up))))
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
    let is_theirs =
        answers::find(conn, answer)?.is_some_and(|record| record.asked_by == asked.trigger.message.sender.id);
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
    rests_on.extend(follow_ups::chain_of(conn, answer)?.iter().map(|it| it.trigger));
    let settled = Some(answered(pending.clone(), candidate));
    Ok(Some(FollowUpContext { reading, settled, rests_on, ..FollowUpContext::default() }))
}

fn read(asked: &FollowUpQuestion<'_>, ask: &str, shown: Option<&[Item]>) -> ClassifiedQuestion {
    let language = asked.language.short();
    classify(&ClassifierInput { text: ask, generic: asked.generic && ask == asked.ask, shown, language })
}

/// Returns the list of an answer with its chain; `None` if it was forgotten.
fn load(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    answer: AnswerId,
    found_by: FoundBy,
    members: &BTreeSet<String>,
) -> chime_store::Result<Option<EarlierList>> {
    let chain = follow_ups::chain_of(conn, answer)?;
    let Some(at) = chain.iter().position(|it| it.answer == answer) else { return Ok(None) };
    let list = &chain[at];
    let mut frame = list.resolved.frame.clone();
    frame.wanted = Vec::new();
    let (mut asked_by, mut messages, mut of_chain) = (String::new(), BTreeSet::new(), Vec::new());
    for (place, step) in chain.iter().enumerate() {
        let shown_by = messages_of(conn, asked, step)?;
        let question = messages::by_seq(conn, asked.trigger.chat, step.trigger)?;
        if let Some(question) = question.filter(|_| place <= at && step.resolved.frame.intent.is_wish()) {
            let text = without_names(&question.message.text);
            if question.message.edited_at.is_some_and(|edited| place == at && edited > step.created_at) {
                frame.budget = read(asked, &text, None).budget.or(frame.budget.filter(|_| place > 0));
            }
            frame.wanted.push(one_line(&text, WISH_CHARS));
            asked_by = clean_name(&question.message.sender.name);
        }
        of_chain.extend(&shown_by);
        if place == at {
            messages = shown_by;
        }
    }
    keep_most(&mut frame.wanted);
    let is_own = chain.iter().any(|it| it.asked_by == asked.trigger.message.sender.id);
    let items = list.items.clone();
    let last_item = chain.last().and_then(|newest| match newest.resolved.items.as_slice() {
        [item] if newest.resolved.frame.clarification.is_none() => Some(item.clone()),
        _ => None,
    });
    let is_unread = |step: &ChainedAnswer| {
        let frame = &step.resolved.frame;
        step.items.is_empty() && frame.intent.suggests() && frame.clarification.is_none()
    };
    let precedes_unread = chain[at + 1..].iter().any(is_unread);
    let mut shown: Vec<Item> = chain.into_iter().flat_map(|it| it.items).collect();
    if !frame.is_offer {
        // "Who brings what" was answered with members: a question about one of them is not about that list.
        shown.retain(|item| !members.contains(&fold(item.title())));
    }
    // One citation may be of a wish: "for those who eat no meat [1]".
    let record = answers::find(conn, answer)?;
    let is_of_messages = !frame.is_offer && record.is_some_and(|it| is_of_messages(&it.text, items.len()));
    let list = SuggestedList { answer, found_by, asked_by, frame, items, shown, last_item };
    let since = talk_since(conn, asked, &list, &messages)?;
    Ok(Some(EarlierList { list, is_own, is_of_messages, messages, of_chain, since, precedes_unread }))
}

/// Keeps the first wish and the newest ones.
fn keep_most(wanted: &mut Vec<String>) {
    if wanted.len() > MAX_WISHES {
        wanted.drain(1..=wanted.len() - MAX_WISHES);
    }
}

/// Returns the question of an answer and, if it has a list, the messages that show it.
fn messages_of(
    conn: &Reader,
    asked: &FollowUpQuestion<'_>,
    step: &ChainedAnswer,
) -> chime_store::Result<BTreeSet<Seq>> {
    let mut seqs = BTreeSet::from([step.trigger]);
    if !step.items.is_empty() {
        for (_, carrier) in outbox::messages_of(conn, step.answer)? {
            seqs.extend(messages::find(conn, asked.trigger.message.chat, carrier)?.map(|stored| stored.seq));
        }
    }
    Ok(seqs)
}

impl FollowUpContext {
    /// Returns the suggested items that answer the question without a model: the items that it is about, else the items
    /// of the list that fit it, else the list. `is_unclear` is `true` if no message fits the question: it may then be
    /// about the list that was shown just before. `None` if the question is not about suggestions.
    pub fn without_model<'f>(&'f self, follow_up: &'f FollowUp, is_unclear: bool) -> Option<ItemsWithoutModel<'f>> {
        /// With more words of its own ("which one is Ben bringing?"), a question is not about all items of the list.
        const UNKNOWN: usize = 1;
        let only = |items: Vec<&'f Item>| ItemsWithoutModel { items, and_after: None, none_fits: false };
        if !follow_up.items.is_empty() {
            return Some(only(follow_up.items.iter().collect()));
        }
        if follow_up.reset.is_some() {
            return None;
        }
        let Some(stored) = &self.stored else {
            if !self.refers_to.is_empty() {
                return Some(only(self.refers_to.iter().collect()));
            }
            let (list, reading) = (follow_up.suggested.first()?, &self.reading);
            let and_after = self.list_end.filter(|_| self.asks_which_one);
            let asks_about_all = reading.is_question && reading.is_about_list && reading.unknown <= UNKNOWN;
            // "Who has the key?" is not about the list, although no message fits it.
            let refers = reading.is_about_list || !reading.mentions.places.is_empty();
            let is_remark = is_unclear && (refers || !reading.is_question) && self.list_end.is_some();
            let items = list.items.iter().collect();
            let and_after = and_after.filter(|_| !asks_about_all);
            return (asks_about_all || and_after.is_some() || is_remark).then_some(ItemsWithoutModel {
                items,
                and_after,
                none_fits: false,
            });
        };
        let frame = &follow_up.frame;
        let fits = |item: &&Item| match frame.intent {
            Intent::Cheaper | Intent::Budget => frame.budget.as_ref().is_none_or(|limit| costs_at_most(item, limit)),
            Intent::EntitySearch => item.shown.people.iter().any(|name| frame.people.contains(name)),
            _ => !follow_up.references.iter().any(|refused| refused.means == item.title()),
        };
        let is_about_items = match frame.intent {
            Intent::Cheaper | Intent::Budget | Intent::EntitySearch | Intent::ItemQuestion => true,
            // Of "none of these", nothing is left.
            Intent::More => self.reading.not_that && !self.reading.is_about_list && stored.items.len() > 1,
            Intent::Suggest | Intent::Ask => false,
        };
        let fitting: Vec<&Item> = stored.items.iter().filter(fits).collect();
        let none_fits = fitting.is_empty() && frame.intent != Intent::More;
        let items = if fitting.is_empty() { stored.items.iter().collect() } else { fitting };
        is_about_items.then_some(ItemsWithoutModel { items, and_after: None, none_fits })
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
            follow_up.wants_others = self.wants_others;
            // More of the only list that may be meant continues it.
            if let ([list], true) = (self.suggested.as_slice(), self.wants_others) {
                (follow_up.follows, follow_up.found_by) = (Some(list.answer), Some(list.found_by));
            }
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
    Some(question(&notices(language.code()).which_person, &open.candidates))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_newest_wishes_are_kept() {
        let mut wanted: Vec<String> = (0..=MAX_WISHES + 1).map(|n| format!("more {n}")).collect();
        keep_most(&mut wanted);
        assert_eq!(wanted.len(), MAX_WISHES);
        assert_eq!(
            (wanted[0].as_str(), wanted[1].as_str(), wanted[MAX_WISHES - 1].as_str()),
            ("more 0", "more 3", "more 9")
        );
        keep_most(&mut wanted);
        assert_eq!(wanted.len(), MAX_WISHES);
    }
}
