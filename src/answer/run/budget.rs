//! How a member is told that the day's tokens are used up.

use crate::access::{subject, tell};
use crate::answer::run::ask::Answering;
use crate::domain::{Because, Job, JobPayload, MessageAt, Refusal, StoredMessage, Timestamp};
use crate::store::{self, Priority, Writer, jobs, refusals};

impl Answering {
    /// Ends the job of a trigger that no tokens are left for; another one tells so.
    pub(super) async fn refuse(&self, job: &Job, trigger: &StoredMessage, because: Because) -> store::Result<()> {
        tracing::info!(chat.id = trigger.message.chat.0, r#type = because.as_str(), "chat.rate_limit");
        let (kind, key, trigger, now) = (job.kind(), job.key(), trigger.clone(), self.parts.clock.now());
        self.parts
            .store
            .write(Priority::Answering, move |tx| {
                write_refusal(tx, &trigger, because, now)?;
                jobs::finish(tx, kind, &key)
            })
            .await?;
        self.parts.wake.wake();
        Ok(())
    }
}

fn write_refusal(tx: &Writer<'_>, trigger: &StoredMessage, because: Because, now: Timestamp) -> store::Result<()> {
    let message = &trigger.message;
    let subject = subject(because, trigger.conversation(), message.sender.id, now);
    let tell = tell(now, refusals::told(tx, &subject)?);
    let (chat, id, thread, until) = (message.chat, message.id, message.thread, now.next_day());
    refusals::add(tx, &Refusal { chat, message: id, thread, because, subject, until, tell }, now)?;
    jobs::add(tx, &JobPayload::Refusal { at: MessageAt::of(trigger) }, now)?;
    Ok(())
}
