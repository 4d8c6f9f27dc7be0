//! Makes a poll of the suggestions in an answer.

use crate::commands::handlers::Commands;
use chime_answer::answering::add_poll;
use chime_core::texts::{notices, texts};
use chime_core::{AnswerId, Job, Press, ReplyTarget};
use chime_jobs::JobResult;
use chime_store::chats::ChatRow;
use chime_store::{Priority, Writer, answers, outbox};

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
            let Some(record) = record else { return Ok(PollOutcome::Unknown) };
            let to = ReplyTarget { chat: at.0, forum_topic: record.forum_topic, reply_to: Some(at.1) };
            let is_made = add_poll(tx, answer, reply_key, to, &own.question, now)?;
            Ok(if is_made { PollOutcome::Made } else { PollOutcome::Unknown })
        };
        match self.base.store.write(Priority::Answering, add).await? {
            PollOutcome::Made => self.confirm_shown(job, press, None).await,
            PollOutcome::Known => self.refuse(job, press, &own.made).await,
            PollOutcome::Unknown => self.refuse(job, press, &notices(chat.speaks().code()).unknown_button).await,
        }
    }
}
