//! The day's tokens: what is left of them, what an answer took, and how a member is told that none are left.

use crate::access::{self, Allowance, subject, tell};
use crate::answer::run::ask::Answering;
use crate::config::{DailyTokens, Prices};
use crate::domain::{AnswerRecord, Because, Job, JobPayload, MessageAt, Refusal, Spent, StoredMessage, Timestamp};
use crate::store::usage::Call;
use crate::store::{self, Priority, Writer, jobs, refusals};

/// The caps, and what tokens cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    pub caps: DailyTokens,
    pub prices: Option<Prices>,
}

impl Budget {
    pub fn allowance(&self, spent: Spent) -> Allowance {
        access::allowance(spent, self.caps)
    }

    /// The call behind an answer, for the ledger; none where no model was asked.
    pub fn call(&self, record: &AnswerRecord) -> Option<Call> {
        let tokens = record.tokens;
        (tokens.prompt + tokens.completion > 0).then(|| Call {
            at: record.created_at,
            chat: record.chat,
            user: Some(record.asked_by),
            tokens,
            cost_micros: self.prices.map_or(0, |prices| prices.cost_micros(tokens)),
        })
    }
}

impl Answering {
    /// Ends the job of a trigger that no tokens are left for; another one tells so.
    pub(super) async fn refuse(&self, job: &Job, trigger: &StoredMessage, allowance: Allowance) -> store::Result<()> {
        let Allowance::Over(because) = allowance else { return self.close(job).await };
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
