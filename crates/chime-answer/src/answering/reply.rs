//! Turns Markdown into the parts of a reply.

use chime_core::{AnswerId, FormattedText, JobPayload, ReplyTarget, StoredMessage};
use chime_store::outbox::{NewReply, Purpose};
use chime_telegram::{Allowed, defuse, split, to_entities};

/// Formats `markdown` and splits it into parts that Telegram accepts. For text of models and members: only `urls` may
/// be link targets, and only `names` may be mentioned.
pub fn format_parts(markdown: &str, urls: &[&str], names: &[&str]) -> Vec<FormattedText> {
    let allowed = Allowed { urls, names };
    split(&defuse(to_entities(markdown), &allowed))
}

/// Does the same as [`format_parts`] for text that the program wrote itself. Links, mentions and commands stay active.
pub fn format_own(markdown: &str) -> Vec<FormattedText> {
    split(&to_entities(markdown))
}

/// Returns the reply to `trigger` with these parts, in the same forum topic. `job` is the job that made it.
pub fn reply_to(trigger: &StoredMessage, answer: AnswerId, job: &JobPayload, parts: Vec<FormattedText>) -> NewReply {
    let message = &trigger.message;
    let to = ReplyTarget { chat: message.chat, forum_topic: message.forum_topic, reply_to: Some(message.id) };
    let (answer, made_by) = (Some(answer), Some(job.clone()));
    NewReply { answer, made_by, ..NewReply::own(Purpose::Answer, job.reply_key(), to, parts) }
}
