//! Makes a poll of the things that an answer lists.

use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::answering::unanswered::close;
use chime_core::texts::texts;
use chime_core::trigger::{asks_for_poll, is_small_talk};
use chime_core::{AnswerId, ChatKind, FormattedText, Item, Job, Poll, ReplyTarget, Role, Timestamp, clip};
use chime_jobs::JobError;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Writer, follow_ups, jobs, outbox};

/// Sends a poll of the things in an answer, and ends the job, if the question only asks for that: in a reply to the answer
/// or right after it. A question that has got its poll is answered, whatever it is edited to. Returns `false` for other
/// questions, and if the answer lists too few things or too many.
pub(super) async fn send_wanted_poll(
    services: &Services,
    job: &Job,
    question: &QuestionContext,
) -> Result<bool, JobError> {
    let key = format!("{}:poll", job.payload.reply_key());
    let known = key.clone();
    if services.base.store.read(move |conn| outbox::unsent_parts(conn, &known)).await?.is_some() {
        // The question was edited after its poll was made.
        close(services, job, Vec::new()).await?;
        return Ok(true);
    }
    let message = &question.trigger().message;
    let recent = question.history.recent.iter().filter(|stored| !is_small_talk(&stored.message.text));
    let newest = recent.max_by_key(|stored| (stored.message.sent_at, stored.seq));
    let newest = newest.filter(|stored| stored.message.role == Role::Assistant).map(|stored| stored.message.id);
    let is_wanted = question.chat.chat.kind != ChatKind::Private && asks_for_poll(&question.history.ask);
    let Some(list) = message.reply_to.or(newest).filter(|_| is_wanted) else { return Ok(false) };
    let to = ReplyTarget { chat: message.chat, forum_topic: message.forum_topic, reply_to: Some(message.id) };
    let title = &texts(question.chat.speaks().code()).polls.question;
    let (payload, now) = (job.payload.clone(), services.base.clock.now());
    let send = move |tx: &Writer<'_>| {
        let answer = outbox::by_message(tx, to.chat, list)?.and_then(|part| part.answer);
        let is_sent = match answer {
            Some(answer) => add_poll(tx, answer, key, to, title, now)?,
            None => false,
        };
        if is_sent {
            jobs::finish(tx, payload.kind(), &payload.key())?;
        }
        Ok(is_sent)
    };
    let is_sent = services.base.store.write(Priority::Answering, send).await?;
    if is_sent {
        services.base.wake.wake();
    }
    Ok(is_sent)
}

/// Adds a poll of the things in `answer` to the outbox. Returns `false` if they are too few or too many, or were read
/// from sentences.
pub fn add_poll(
    tx: &Writer<'_>,
    answer: AnswerId,
    reply_key: String,
    to: ReplyTarget,
    question: &str,
    now: Timestamp,
) -> chime_store::Result<bool> {
    let is_certain = follow_ups::find(tx, answer)?.is_some_and(|list| !list.frame.is_prose);
    let items = if is_certain { follow_ups::items_of(tx, answer)? } else { Vec::new() };
    let Some(poll) = poll(question, &items) else { return Ok(false) };
    let reply = NewReply::own(Purpose::Command, reply_key, to, vec![FormattedText::plain(poll.text())]);
    outbox::add(tx, &NewReply { answer: Some(answer), poll: Some(poll), ..reply }, now)?;
    Ok(true)
}

/// Returns `None` if the items are too few or too many for a poll.
fn poll(question: &str, items: &[Item]) -> Option<Poll> {
    let mut options: Vec<(String, u32)> = Vec::new();
    for item in items {
        let title = clip(item.title().trim(), Poll::OPTION_CHARS).into_owned();
        // Telegram refuses a poll with two equal options.
        if !title.is_empty() && options.iter().all(|(known, _)| *known != title) {
            options.push((title, 0));
        }
    }
    Poll::OPTIONS.contains(&options.len()).then(|| Poll { question: question.to_owned(), options })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{ItemId, Suggested};

    #[test]
    fn a_poll_has_two_to_ten_different_options_of_at_most_a_hundred_characters() {
        let answer: AnswerId = serde_json::from_str("\"01ARZ3NDEKTSV4RRFFQ69G5FAV\"").unwrap();
        let made = |titles: &[&str]| {
            let item = |title: &&str| Item {
                id: ItemId { answer, position: 1 },
                shown: Suggested { title: (*title).to_owned(), ..Suggested::default() },
            };
            poll("Which one?", &titles.iter().map(item).collect::<Vec<_>>()).map(|poll| poll.options)
        };
        let long = "ä".repeat(300);
        let options = made(&["Dune", " Dune ", &long]).unwrap();
        assert!(options.len() == 2 && options.iter().all(|(option, _)| option.chars().count() <= Poll::OPTION_CHARS));
        assert_eq!((made(&["Dune", "Dune"]), made(&["Dune"])), (None, None));
        let many: Vec<String> = (0..11).map(|number| number.to_string()).collect();
        assert_eq!(made(&many.iter().map(String::as_str).collect::<Vec<_>>()), None);
    }
}
