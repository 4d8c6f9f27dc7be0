//! A trigger becomes a job, unless it is one too many: then the job is to say so.

use crate::access::run::recent;
use crate::access::{Decision, admit, subject};
use crate::config::RateLimit;
use crate::domain::{Because, ChatKey, Conversation, Job, JobKind, Message, Refusal, Timestamp, message_key};
use crate::store::refusals::Counted;
use crate::store::{self, Writer, jobs, refusals};

/// What became of a trigger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// Its job is or was there already.
    Known,
    Started(Job),
    /// With the job that says so.
    Refused(Because, Job),
}

/// A trigger and the job that it asks for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub kind: JobKind,
    pub chat: ChatKey,
    /// With the words of a member who opted out, which are not stored.
    pub message: &'a Message,
}

impl Request<'_> {
    fn conversation(&self) -> Conversation {
        Conversation { chat: self.chat, thread: self.message.thread }
    }
}

/// Adds the job that is asked for. A trigger is judged once: what was refused stays refused when it comes again.
pub fn start(tx: &Writer<'_>, request: Request<'_>, limit: Option<RateLimit>, now: Timestamp) -> store::Result<Start> {
    let Request { kind, message, .. } = request;
    let key = message_key(message.chat, message.id);
    let add = |kind| match jobs::add(tx, kind, &key, message.chat.0, now)? {
        true => jobs::find(tx, kind, &key),
        false => Ok(None),
    };
    let Some(limit) = limit else {
        return Ok(add(kind)?.map_or(Start::Known, Start::Started));
    };
    if jobs::exists(tx, kind, &key)? || jobs::exists(tx, JobKind::Refusal, &key)? {
        return Ok(Start::Known);
    }
    let at = asked_at(message);
    let (conversation, user) = (request.conversation(), message.sender.id);
    match admit(at, &recent(tx, conversation, user, at, limit)?, limit) {
        Decision::Allow => {
            let counted = Counted { conversation, chat: message.chat, message: message.id, user };
            refusals::add_trigger(tx, counted, at, at.minus(limit.per))?;
            Ok(add(kind)?.map_or(Start::Known, Start::Started))
        }
        Decision::Refuse { because, until, tell } => {
            let subject = subject(because, conversation, user, at);
            let (chat, id, thread) = (message.chat, message.id, message.thread);
            refusals::add(tx, &Refusal { chat, message: id, thread, because, subject, until, tell }, at)?;
            Ok(add(JobKind::Refusal)?.map_or(Start::Known, |job| Start::Refused(because, job)))
        }
    }
}

/// A tag that was added by an edit is as old as the edit.
fn asked_at(message: &Message) -> Timestamp {
    message.edited_at.unwrap_or(message.sent_at)
}
