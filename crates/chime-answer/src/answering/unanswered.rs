//! Ends the jobs of triggers without an answer: the daily tokens are used up, the member may not ask, or the trigger
//! waited too long.

use crate::answering::deliver::UNDELIVERED_REACTION;
use crate::answering::services::Services;
use crate::answering::stream::take_back;
use chime_access::gateway::ask::UsageRecord;
use chime_access::{subject, tell};
use chime_core::{
    BACKLOG_SETTLES, Job, JobKind, JobPayload, MessageAt, Refusal, RefusalReason, StoredMessage, Timestamp,
};
use chime_jobs::JobError;
use chime_store::{Priority, Writer, backlog, jobs, messages, refusals};

/// Ends the job of a refused trigger and stores the refusal. Another job sends the notice to the member. Removes the
/// message that shows the beginning of the answer, if there is one.
pub(super) async fn refuse(
    services: &Services,
    job: &Job,
    trigger: &StoredMessage,
    because: RefusalReason,
) -> Result<(), JobError> {
    take_back(services, &job.payload.reply_key()).await?;
    if job.kind() == JobKind::Ambient {
        return close(services, job, Vec::new()).await;
    }
    tracing::info!(chat.id = trigger.message.chat.0, r#type = because.as_str(), "chat.rate_limit");
    let (kind, key, trigger, now) = (job.kind(), job.key(), trigger.clone(), services.base.clock.now());
    services
        .base
        .store
        .write(Priority::Answering, move |tx| {
            write_refusal(tx, &trigger, because, now)?;
            jobs::finish(tx, kind, &key)
        })
        .await?;
    services.base.wake.wake();
    Ok(())
}

/// Ends the job of a trigger that waited too long, and adds the trigger to the count in the chat's notice about
/// unanswered messages, which is sent after `from`. Removes the message that shows the beginning of the answer, if there
/// is one.
pub(super) async fn count_as_old(
    services: &Services,
    job: &Job,
    trigger: &StoredMessage,
    from: Timestamp,
) -> Result<(), JobError> {
    take_back(services, &job.payload.reply_key()).await?;
    if job.kind() == JobKind::Ambient {
        return close(services, job, Vec::new()).await;
    }
    let (kind, key) = (job.kind(), job.key());
    let (chat, forum_topic) = (trigger.message.chat, trigger.message.forum_topic);
    let due_at = from.plus(BACKLOG_SETTLES);
    let counted = move |tx: &Writer<'_>| {
        backlog::count_one(tx, chat, forum_topic, due_at)?;
        jobs::finish(tx, kind, &key)
    };
    services.base.store.write(Priority::Answering, counted).await?;
    services.base.wake.wake();
    Ok(())
}

/// Lets the job of a trigger wait until Telegram takes messages for the chat again, or ends it if the trigger is then too
/// old to be answered. A job that waits keeps the words of members who opted out.
pub(super) async fn wait_for_hold(
    services: &Services,
    job: &Job,
    at: MessageAt,
    until: Timestamp,
) -> Result<(), JobError> {
    let wait = until.since(services.base.clock.now());
    if wait <= services.base.config.ingest.backlog_max_age {
        return Err(JobError::Later(wait));
    }
    let trigger = services.base.store.read(move |conn| messages::find_any(conn, at.chat, at.message)).await?;
    match trigger {
        Some(trigger) => count_as_old(services, job, &trigger, until).await,
        None => give_up(services, job).await,
    }
}

/// Ends the job of a trigger that may not be answered any more. Removes the message that shows the beginning of the
/// answer, if there is one.
pub(super) async fn give_up(services: &Services, job: &Job) -> Result<(), JobError> {
    take_back(services, &job.payload.reply_key()).await?;
    close(services, job, Vec::new()).await
}

/// Ends the job of a trigger in a chat to which the bot may not send. Its author sees a reaction, if that is allowed.
pub(super) async fn mark_unsent(services: &Services, job: &Job, at: MessageAt) -> Result<(), JobError> {
    if job.kind() != JobKind::Ambient
        && let Err(error) = services.base.telegram.react(at.chat, at.message, Some(UNDELIVERED_REACTION)).await
    {
        tracing::info!(%error, "cannot react to a question in a chat without the right to send");
    }
    give_up(services, job).await
}

/// Ends a job without a reply.
pub(super) async fn close(services: &Services, job: &Job, bills: Vec<UsageRecord>) -> Result<(), JobError> {
    let (kind, key) = (job.kind(), job.key());
    let end = if kind == JobKind::Ambient { jobs::remove } else { jobs::finish };
    let closing = services.base.store.write(Priority::Answering, move |tx| {
        bills.iter().try_for_each(|bill| bill.write(tx))?;
        end(tx, kind, &key)
    });
    Ok(closing.await?)
}

fn write_refusal(
    tx: &Writer<'_>,
    trigger: &StoredMessage,
    because: RefusalReason,
    now: Timestamp,
) -> chime_store::Result<()> {
    let message = &trigger.message;
    let subject = subject(because, trigger.conversation(), message.sender.id, now);
    let tell = tell(now, refusals::explained(tx, &subject)?);
    let (chat, id, forum_topic, until) = (message.chat, message.id, message.forum_topic, now.next_day());
    refusals::add(tx, &Refusal { chat, message: id, forum_topic, because, subject, until, tell }, now)?;
    jobs::add(tx, &JobPayload::Refusal { at: MessageAt::of(trigger) }, now)?;
    Ok(())
}
