//! From Markdown to rows of the outbox: what every reply goes through.

use chime_core::{AnswerId, FormattedText, JobPayload, ReplyTarget, StoredMessage};
use chime_store::outbox::{NewReply, Purpose};
use chime_telegram::{Allowed, defuse, split, to_entities};

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

/// The answer to `trigger` that `job` came to, in its thread.
pub fn reply_to(trigger: &StoredMessage, answer: AnswerId, job: &JobPayload, parts: Vec<FormattedText>) -> NewReply {
    let message = &trigger.message;
    let to = ReplyTarget { chat: message.chat, thread: message.thread, reply_to: Some(message.id) };
    let (answer, made_by) = (Some(answer), Some(job.clone()));
    NewReply { answer, made_by, ..NewReply::own(Purpose::Answer, job.reply_key(), to, parts) }
}
