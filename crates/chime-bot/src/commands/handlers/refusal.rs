//! Reports to a member that their trigger was refused: by a text, by a reaction, or by one line if the reaction fails.

use crate::commands::handlers::Commands;
use chime_answer::answering::format_own;
use chime_core::texts::{Notices, notices};
use chime_core::{Conversation, Job, Language, MessageAt, Refusal, RefusalNotice, ReplyTarget, Zone};
use chime_jobs::{JobError, JobOutcome, JobResult};
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{chat_settings, chats, outbox, refusals};
use chime_telegram::TelegramError;

/// Reaction to a refused trigger. Telegram allows bots only some emoji.
pub const REFUSED_REACTION: &str = "👀";
/// Number of attempts to react. After that a line of text is sent instead.
const REACTION_ATTEMPTS: u32 = 3;

impl Commands {
    /// Handles a `refusal` job: reports the refusal of the trigger `at`.
    pub async fn tell_refusal(&self, job: &Job, at: MessageAt) -> JobResult {
        let MessageAt { chat, message } = at;
        let operators = self.base.zone();
        let found = self.base.store.read(move |conn| {
            let (refusal, row) = (refusals::find(conn, chat, message)?, chats::find(conn, chat)?);
            let Some(refusal) = refusal else { return Ok(None) };
            let Some(row) = row else { return Ok(Some((refusal, Language::DEFAULT, operators))) };
            let conversation = Conversation { chat: row.key, forum_topic: refusal.forum_topic };
            Ok(Some((refusal, row.speaks(), chat_settings::zone(conn, conversation, operators)?)))
        });
        let Some((refusal, language, zone)) = found.await? else { return self.finish(job).await };
        let notices = notices(language.code());
        match refusal.tell {
            RefusalNotice::Words => {
                let now = self.base.clock.now();
                let words = notices.refused_until(refusal.because, refusal.until.since(now), REFUSED_REACTION);
                self.write_refusal(job, refusal, words).await
            }
            RefusalNotice::Reaction => self.react_to(job, refusal, notices, zone).await,
        }
    }

    async fn react_to(&self, job: &Job, refusal: Refusal, notices: &Notices, zone: Zone) -> JobResult {
        match self.base.telegram.react(refusal.chat, refusal.message, Some(REFUSED_REACTION)).await {
            Ok(()) => self.finish_with(job, move |tx| refusals::remove(tx, refusal.chat, refusal.message)).await,
            Err(TelegramError::Throttled { retry_after }) => {
                Ok(JobOutcome::WaitUntil(self.base.clock.now().plus(retry_after)))
            }
            Err(error) if may_pass(&error) && job.attempts < REACTION_ATTEMPTS => {
                Err(JobError::Failed(error.to_string()))
            }
            Err(error) => {
                tracing::info!(chat.id = refusal.chat.0, %error, "no reaction to a refused trigger, a line instead");
                let words = notices.silent_until(&zone.told_time(refusal.until));
                self.write_refusal(job, refusal, words).await
            }
        }
    }

    /// Stores `words` as a reply and finishes the job, in one transaction. A line that replaces a reaction is sent only
    /// once for each member or chat that exceeds a limit, not for each refused trigger.
    async fn write_refusal(&self, job: &Job, refusal: Refusal, words: String) -> JobResult {
        let to = ReplyTarget { chat: refusal.chat, forum_topic: refusal.forum_topic, reply_to: Some(refusal.message) };
        let parts = format_own(&words);
        let reply = NewReply::own(Purpose::Notice, job.payload.reply_key(), to, parts);
        let now = self.base.clock.now();
        self.finish_with(job, move |tx| {
            if refusal.tell == RefusalNotice::Words || refusals::close(tx, &refusal.subject)? {
                outbox::add(tx, &reply, now)?;
            }
            refusals::remove(tx, refusal.chat, refusal.message)
        })
        .await
    }
}

/// Returns `true` if the reaction failed for a reason that may pass.
fn may_pass(error: &TelegramError) -> bool {
    matches!(error, TelegramError::NotSent(_) | TelegramError::Unknown(_) | TelegramError::Failed { .. })
}
