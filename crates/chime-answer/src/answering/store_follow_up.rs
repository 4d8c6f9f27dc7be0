//! Stores the suggestions of an answer, for later questions and for a poll.

use crate::answering::follow_up::count;
use crate::followup::{is_of_messages, items, lists_names, lists_things, offers_choice, only_item, repeats_title};
use chime_core::texts::texts;
use chime_core::{AnswerRecord, AnswerStatus, Button, ChatKind, FollowUp, Poll, PollButton, Seq, Suggested};
use chime_store::chats::ChatRow;
use chime_store::follow_ups::NewFollowUp;
use chime_store::{Writer, answers, consent, follow_ups};

/// Returns the follow-up record to store with an answer, with the items that the answer suggests: the items of any list
/// count. `None` if there is nothing to store.
pub fn to_store(record: &AnswerRecord, follow_up: &FollowUp) -> Option<NewFollowUp> {
    let is_answer = record.status == AnswerStatus::Answered && follow_up.frame.clarification.is_none();
    let FollowUp { frame, .. } = follow_up;
    let suggests = frame.intent.suggests() || frame.kind.is_some() || lists_things(&record.text);
    let mut found = Vec::new();
    if is_answer && follow_up.items.is_empty() && suggests {
        found = items(&record.text, frame.kind.as_deref());
        if found.is_empty() && frame.intent.suggests() {
            found.extend(only_item(&record.text, frame.kind.as_deref()));
        }
    }
    let mut resolved = follow_up.clone();
    resolved.frame.is_offer = !found.is_empty() && is_offer(&record.text, follow_up, &found);
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

/// Returns `true` if an answer that lists `items` offers things to choose from: suggestions were asked for, things of a
/// kind or with prices are listed, or names that no message has for a question after another offer. The steps of a recipe
/// are no offer.
fn is_offer(text: &str, follow_up: &FollowUp, items: &[Suggested]) -> bool {
    let FollowUp { frame, suggested, .. } = follow_up;
    if frame.kind.as_deref() == Some("recipe") {
        return lists_names(text);
    }
    let is_priced = items.iter().filter(|item| item.price.is_some()).count() > 1;
    let is_told_of_offer = suggested.iter().any(|list| list.frame.is_offer);
    let is_after_offer = is_told_of_offer && !is_of_messages(text, items.len());
    frame.intent.suggests()
        || is_priced
        || is_after_offer && follow_up.wants_others
        || (is_after_offer || frame.kind.is_some()) && lists_names(text)
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
