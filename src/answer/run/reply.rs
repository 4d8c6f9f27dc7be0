//! From Markdown to rows of the outbox: what every reply goes through.

use crate::domain::{AnswerId, FormattedText, JobKind, ReplyTarget, StoredMessage, Timestamp};
use crate::store::outbox::{NewReply, Purpose};
use crate::store::{self, Writer, jobs, outbox};
use crate::telegram::{Allowed, defuse, split, to_entities};

/// Formats `markdown` and cuts it into parts that Telegram takes. What of it others wrote is made harmless: only these
/// addresses may hide under words, only these names may be called.
pub fn format_parts(markdown: &str, urls: &[&str], names: &[&str]) -> Vec<FormattedText> {
    let allowed = Allowed { urls, names };
    split(&defuse(to_entities(markdown), &allowed))
}

/// The same for words that are all our own, commands to tap included.
pub fn format_own(markdown: &str) -> Vec<FormattedText> {
    split(&to_entities(markdown))
}

/// The answer to `trigger`, in its thread.
pub fn reply_to(trigger: &StoredMessage, answer: AnswerId, key: String, parts: Vec<FormattedText>) -> NewReply {
    let message = &trigger.message;
    let to = ReplyTarget { chat: message.chat, thread: message.thread, reply_to: Some(message.id) };
    NewReply { key, purpose: Purpose::Answer, answer: Some(answer), to, parts, button: None }
}

/// Writes a reply down with the job that sends it.
pub fn write_reply(tx: &Writer<'_>, reply: &NewReply, now: Timestamp) -> store::Result<()> {
    outbox::add(tx, reply, now)?;
    // An answer that is made anew is sent by the job of the one that was taken back.
    jobs::add_unless_due(tx, JobKind::Send, &reply.key, reply.to.chat.0, now)
}
