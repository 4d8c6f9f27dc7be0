//! Enqueues the job that a trigger asks for, or a job that reports its refusal if the rate limit is exceeded.

use chime_access::admission::{recent, recent_controls};
use chime_access::{CONTROLS, Decision, admit, admit_control, subject};
use chime_core::config::RateLimit;
use chime_core::{ChatKey, Conversation, JobKind, JobPayload, Message, MessageAt, Refusal, RefusalReason, Timestamp};
use chime_store::refusals::AcceptedTrigger;
use chime_store::{Writer, jobs, refusals};

/// Result of [`start`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The trigger already has a job, or is dropped in silence.
    Known,
    Started,
    /// Refused by the rate limit. A job reports this.
    Refused(RefusalReason),
}

/// Limit that applies to a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerLimit {
    Unlimited,
    Usual(RateLimit),
    /// [`CONTROLS`], which ordinary use of the commands never reaches.
    Controls,
}

impl From<Option<RateLimit>> for TriggerLimit {
    fn from(limit: Option<RateLimit>) -> Self {
        limit.map_or(Self::Unlimited, Self::Usual)
    }
}

/// Trigger that asks for a job.
#[derive(Debug, Clone)]
pub struct JobRequest<'a> {
    pub job: JobPayload,
    pub chat: ChatKey,
    /// The complete message, also if it is not stored because its author opted out.
    pub message: &'a Message,
}

impl JobRequest<'_> {
    fn conversation(&self) -> Conversation {
        Conversation { chat: self.chat, forum_topic: self.message.forum_topic }
    }
}

/// Enqueues the job of a trigger if the rate limit allows it. Each trigger is counted only once: a refused trigger that
/// arrives again stays refused.
pub fn start(
    tx: &Writer<'_>,
    request: JobRequest<'_>,
    limit: TriggerLimit,
    now: Timestamp,
) -> chime_store::Result<Start> {
    let (conversation, JobRequest { job, message, .. }) = (request.conversation(), request);
    let refusal = JobPayload::Refusal { at: MessageAt { chat: message.chat, message: message.id } };
    let is_known = jobs::exists(tx, job.kind(), &job.key())? || jobs::exists(tx, JobKind::Refusal, &refusal.key())?;
    if is_known {
        // The message may have been edited: a job that has not started yet uses the new text.
        jobs::replace(tx, &job)?;
        return Ok(Start::Known);
    }
    let (at, user) = (asked_at(message), message.sender.id);
    let decision = match limit {
        TriggerLimit::Unlimited => Decision::Allow,
        TriggerLimit::Usual(limit) => admit(at, &recent(tx, conversation, user, at, limit)?, limit),
        TriggerLimit::Controls => admit_control(at, &recent_controls(tx, conversation, user, at)?),
    };
    match decision {
        Decision::Allow => {
            let counted = AcceptedTrigger { conversation, chat: message.chat, message: message.id, user };
            match limit {
                TriggerLimit::Unlimited => {}
                TriggerLimit::Usual(limit) => refusals::add_trigger(tx, counted, at, at.minus(limit.per))?,
                TriggerLimit::Controls => refusals::add_control(tx, user, at, at.minus(CONTROLS.per))?,
            }
            jobs::add(tx, &job, now)?;
            Ok(Start::Started)
        }
        // The group does not see an ephemeral command, so it would not understand a refusal either.
        Decision::Refuse { .. } if message.id.ephemeral_number().is_some() => Ok(Start::Known),
        Decision::Refuse { because, until, tell } => {
            let subject = subject(because, conversation, user, at);
            let (chat, id, forum_topic) = (message.chat, message.id, message.forum_topic);
            refusals::add(tx, &Refusal { chat, message: id, forum_topic, because, subject, until, tell }, at)?;
            jobs::add(tx, &refusal, now)?;
            Ok(Start::Refused(because))
        }
    }
}

/// Returns the time at which the question was asked: the time of the edit, if the message was edited.
fn asked_at(message: &Message) -> Timestamp {
    message.edited_at.unwrap_or(message.sent_at)
}
