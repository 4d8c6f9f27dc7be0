//! Stores the suggestions of an answer, for later questions and for a poll.

use crate::answering::follow_up::count;
use crate::followup::{
    is_of_messages, items, lists_names, lists_things, offers_choice, only_item, repeats_title,
};
use chime_core::texts::texts;
use chime_core::{
    AnswerRecord, AnswerStatus, Button, ChatKind, FollowUp, Poll, PollButton, Seq, Suggested, SuggestedList,
};
use chime_store::chats::ChatRow;
use chime_store::follow_ups::NewFollowUp;
use chime_store::{Writer, answers, consent, follow_ups};

/// Returns the follow-up record to store with an answer, with the items that the answer suggests: the items of any list
/// count. `None` if there is nothing to store.
pub fn to_store(record: &AnswerRecord, follow_up: &FollowUp) -> Option<NewFollowUp> {
    let is_answer = record.status == AnswerStatus::Answered && follow_up.frame.clarification.is_none();
    let FollowUp { frame, .. } = follow_up;
    let suggests =
        frame.intent.suggests() || frame.kind.is_some() || follow_up.wants_others || lists_things(&record.text);
    let is_about_others = !follow_up.items.is_empty();
    let mut found = match is_answer && suggests && !is_about_others {
        true => items(&record.text, follow_up.frame.kind.as_deref()),
        false => Vec::new(),
    };
    if found.is_empty() && is_answer && !is_about_others && frame.intent.suggests() {
        found.extend(only_item(&record.text, frame.kind.as_deref()));
    }
    let mut resolved = follow_up.clone();
    if let Some((list, items)) = follow_up.newest_lists().first().and_then(|list| replaced(list, &record.text)) {
        found = items;
        resolved.follows = list.items.last().map(|item| item.id.answer);
        resolved.frame.is_offer = list.is_offer;
    } else if !found.is_empty() {
        resolved.frame.is_offer = is_offer(&record.text, &resolved, &found);
    }
    if !follow_up.needs_prompt_slot() && found.is_empty() {
        return None;
    }
    let again = |item: &_| repeats_title(item, follow_up.excluded.iter().map(|shown| shown.title().to_owned()));
    if found.iter().any(again) {
        count("suggested_again");
    }
    Some(NewFollowUp {
        answer: record.id,
        chat: record.chat,
        forum_topic: record.forum_topic,
        created_at: record.created_at,
        resolved,
        items: found,
    })
}

/// Returns a list with the things of an answer in the places of those that it replaces: "4. Brisket". `None` if the answer
/// does not consist of numbers from the list above 1.
fn replaced<'l>(list: &'l SuggestedList, answer: &str) -> Option<(&'l SuggestedList, Vec<Suggested>)> {
    let mut all: Vec<Suggested> = Vec::new();
    for item in &list.items {
        all.push(Suggested { number: Some(item.id.position), ..item.shown.clone() });
    }
    let new = items(answer, None);
    for item in &new {
        item.number.filter(|number| *number > 1)?;
        *all.iter_mut().find(|old| old.number == item.number)? = item.clone();
    }
    (!new.is_empty()).then_some((list, all))
}

/// Returns `true` if an answer that lists `items` offers things to choose from: suggestions were asked for, things of a
/// kind or with prices are listed, or names that no message has for a question after another offer. The steps of a recipe
/// are no offer.
fn is_offer(text: &str, follow_up: &FollowUp, items: &[Suggested]) -> bool {
    let FollowUp { frame, suggested, .. } = follow_up;
    if frame.kind.as_deref() == Some("recipe") {
        return lists_names(text);
    }
    let is_priced = items.iter().filter(|item| item.price.is_some()).count() > 1;
    let is_told_of_offer = suggested.iter().any(|list| list.is_offer);
    let is_after_offer = is_told_of_offer && !is_of_messages(text, items.len());
    frame.intent.suggests() || is_priced || (is_after_offer || frame.kind.is_some()) && lists_names(text)
}

/// Returns the button that makes a poll of the items that the answer `text` in a group suggests, if a poll can hold them.
/// Other lists, such as of tasks, are no choice.
pub fn poll_button(text: &str, taken: Option<&NewFollowUp>, chat: &ChatRow) -> Vec<Vec<Button>> {
    let is_choice = |taken: &&NewFollowUp| {
        let is_offer = taken.resolved.frame.is_offer || offers_choice(text);
        is_offer && Poll::OPTIONS.contains(&taken.items.len()) && chat.chat.kind != ChatKind::Private
    };
    let taken = taken.filter(is_choice);
    let label = || texts(chat.speaks().code()).polls.button.clone();
    taken.map(|taken| vec![Button { label: label(), data: PollButton(taken.answer).data() }]).into_iter().collect()
}

/// Stores the follow-up record of an answer, unless the asker opted out. Errors in it are logged and do not stop the
/// answer.
pub fn save(
    tx: &Writer<'_>,
    record: &AnswerRecord,
    taken: Option<&NewFollowUp>,
    rests_on: &[Seq],
) -> chime_store::Result<()> {
    answers::rest_on(tx, record, rests_on)?;
    let Some(taken) = taken else { return Ok(()) };
    // The record contains the asker's words, which later questions would use in spite of the opt-out.
    if consent::opted_out(tx, record.chat, record.asked_by)?.is_some() {
        return Ok(());
    }
    if let Err(error) = chime_store::in_savepoint(tx, |tx| follow_ups::save(tx, taken)) {
        tracing::warn!(error_type = "follow_up", %error, "chat.error: what was suggested could not be stored");
    }
    Ok(())
}
