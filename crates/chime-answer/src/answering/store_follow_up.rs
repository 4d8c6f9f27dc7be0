//! Stores the suggestions of an answer, for later questions and for a poll.

use std::collections::BTreeSet;

use crate::answering::follow_up::count;
use crate::followup::{
    fold, is_of_members, is_of_messages, items, lists_names, lists_things, offered_items, offers_choice, only_item,
    repeats_title,
};
use chime_core::texts::texts;
use chime_core::{AnswerRecord, AnswerStatus, Button, ChatKind, FollowUp, Poll, PollButton, Seq, Suggested};
use chime_store::chats::ChatRow;
use chime_store::follow_ups::NewFollowUp;
use chime_store::{Writer, answers, consent, follow_ups};

/// Returns the follow-up record to store with an answer, with the items that the answer suggests. `members` has the
/// folded names of members of the chat. `None` if there is nothing to store.
pub fn to_store(record: &AnswerRecord, follow_up: &FollowUp, members: &BTreeSet<String>) -> Option<NewFollowUp> {
    let is_answer = record.status == AnswerStatus::Answered && follow_up.frame.clarification.is_none();
    let is_read = is_answer && follow_up.items.is_empty();
    let (found, is_prose) = if is_read { suggested(&record.text, follow_up, members) } else { (Vec::new(), false) };
    let mut resolved = follow_up.clone();
    resolved.frame.is_offer = !found.is_empty() && is_offer(&record.text, follow_up, &found, members);
    resolved.frame.is_prose = is_prose;
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

/// Returns the items that an answer suggests, and `true` if they were read from sentences and may be other words. The
/// items of any list count; names in sentences only if a kind of thing or suggestions were asked for, or if the answer
/// cites no message.
fn suggested(text: &str, follow_up: &FollowUp, members: &BTreeSet<String>) -> (Vec<Suggested>, bool) {
    let frame = &follow_up.frame;
    let kind = frame.kind.as_deref();
    let wants = frame.intent.suggests() || kind.is_some() || follow_up.wants_others;
    let listed = if wants || lists_things(text) { items(text, kind) } else { Vec::new() };
    if !listed.is_empty() || !wants && is_of_messages(text, 1) {
        return (listed, false);
    }
    let mut offered = offered_items(text, kind);
    offered.retain(|item| !members.contains(&fold(&item.title)));
    // "Take the Bosch EasyDrill." A longer answer may offer something else with words in lower case.
    let count = |text: &str| text.split_whitespace().count();
    match &offered[..] {
        [] if wants => (only_item(text, kind).into_iter().collect(), false),
        [only] if wants && count(&only.title) * 3 > count(text) => (offered, false),
        _ => (offered, true),
    }
}

/// Returns `true` if an answer that suggests `items` offers things to choose from: suggestions or things of a kind were
/// asked for, things with prices are listed, or names that are not from messages. The steps of a recipe are no offer,
/// nor is what members do or bring.
fn is_offer(text: &str, follow_up: &FollowUp, items: &[Suggested], members: &BTreeSet<String>) -> bool {
    let FollowUp { frame, suggested, .. } = follow_up;
    if frame.kind.as_deref() == Some("recipe") {
        return lists_names(text);
    }
    let is_after_offer = suggested.iter().any(|list| list.frame.is_offer);
    let is_own = !is_of_messages(text, items.len()) && !is_of_members(text, members);
    // Sentences have items only if they offer them.
    let has_names = || !lists_things(text) || lists_names(text);
    frame.intent.suggests()
        || has_prices(items)
        || is_own && is_after_offer && follow_up.wants_others
        || (is_own || frame.kind.is_some()) && has_names()
}

fn has_prices(items: &[Suggested]) -> bool {
    items.iter().filter(|item| item.price.is_some()).count() > 1
}

/// Returns the button that makes a poll of the items that the answer `text` in a group suggests, if a poll can hold them.
/// Other lists, such as of tasks, are no choice.
pub fn poll_button(text: &str, taken: Option<&NewFollowUp>, chat: &ChatRow) -> Vec<Vec<Button>> {
    let is_choice = |taken: &&NewFollowUp| {
        let NewFollowUp { resolved: FollowUp { frame, .. }, items, .. } = taken;
        let is_asked_for = frame.intent.suggests() || frame.kind.is_some();
        let is_offer = !frame.is_prose && frame.is_offer && (is_asked_for || has_prices(items)) || offers_choice(text);
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
