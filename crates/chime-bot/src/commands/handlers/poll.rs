//! Makes a poll of the suggestions in an answer.

use crate::commands::handlers::Commands;
use chime_core::texts::{notices, texts};
use chime_core::{AnswerId, FormattedText, Item, Job, Poll, Press, ReplyTarget, clip};
use chime_jobs::JobResult;
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Writer, answers, follow_ups, outbox};

/// Result of a press on the button.
enum PollOutcome {
    Made,
    Known,
    /// The answer is of another chat, or it was forgotten.
    Unknown,
}

impl Commands {
    pub(super) async fn make_poll(&self, job: &Job, press: &Press, chat: &ChatRow, answer: AnswerId) -> JobResult {
        let own = &texts(chat.speaks().code()).polls;
        let (key, at, now) = (chat.key, (press.chat, press.message), self.base.clock.now());
        let add = move |tx: &Writer<'_>| {
            let reply_key = format!("poll:{answer}");
            if outbox::remove_failed(tx, &reply_key)? {
                return Ok(PollOutcome::Known);
            }
            let record = answers::find(tx, answer)?.filter(|record| record.chat == key);
            let poll = poll(&own.question, &follow_ups::items_of(tx, answer)?);
            let (Some(record), Some(poll)) = (record, poll) else { return Ok(PollOutcome::Unknown) };
            let to = ReplyTarget { chat: at.0, forum_topic: record.forum_topic, reply_to: Some(at.1) };
            let parts = vec![FormattedText::plain(poll.text())];
            let reply = NewReply::own(Purpose::Command, reply_key, to, parts);
            outbox::add(tx, &NewReply { answer: Some(answer), poll: Some(poll), ..reply }, now)?;
            Ok(PollOutcome::Made)
        };
        match self.base.store.write(Priority::Answering, add).await? {
            PollOutcome::Made => self.confirm_shown(job, press, None).await,
            PollOutcome::Known => self.refuse(job, press, &own.made).await,
            PollOutcome::Unknown => self.refuse(job, press, &notices(chat.speaks().code()).unknown_button).await,
        }
    }
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
