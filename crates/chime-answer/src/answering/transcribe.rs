//! Transcribes the voice messages around a trigger before it is answered.

use futures::future::join_all;

use crate::answering::load_trigger::{LoadedTrigger, load_trigger, may_ask};
use crate::answering::services::Services;
use crate::answering::typing::keep_typing;
use chime_core::{MessageAt, ParsedTrigger, StoredMessage};
use chime_store::{Reader, messages};

/// Number of messages before a trigger among which untranscribed voice messages are searched.
const JUST_BEFORE: usize = 8;
/// Maximum number of voice messages transcribed for one trigger. Newer ones have priority.
const MOST: usize = 3;

/// Transcribes the trigger `at`, the message it replies to and those just before it, as far as they are voice
/// messages and the trigger is to be answered. Returns those that could not be transcribed. Errors are logged and do
/// not stop the answer.
pub(super) async fn transcribe_nearby(services: &Services, at: MessageAt, parsed: &ParsedTrigger) -> Vec<MessageAt> {
    if !services.voice.transcribes() {
        return Vec::new();
    }
    transcribe_around(services, at, parsed).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "what was spoken before a question is not transcribed");
        Vec::new()
    })
}

async fn transcribe_around(
    services: &Services,
    at: MessageAt,
    parsed: &ParsedTrigger,
) -> chime_store::Result<Vec<MessageAt>> {
    let (loading, parsed, now) = (services.clone(), parsed.clone(), services.base.clock.now());
    let found = services.base.store.read(move |conn| {
        let max_age = loading.base.config.ingest.backlog_max_age;
        let Ok(opened) = load_trigger(conn, &loading, now, max_age, at, &parsed)? else {
            return Ok(None);
        };
        let spoken = untranscribed(conn, &opened.asked.trigger)?;
        Ok((!spoken.is_empty()).then_some((opened, spoken)))
    });
    let Some((opened, spoken)) = found.await? else { return Ok(Vec::new()) };
    let LoadedTrigger { chat, settings, asked, .. } = opened;
    let asker = asked.trigger.message.sender.id;
    if !may_ask(services, chat.chat.id, &settings, asker).await? {
        return Ok(Vec::new());
    }
    let transcribe = async |at| (!services.voice.transcribe_for(asker, at).await).then_some(at);
    let transcribing = join_all(spoken.into_iter().map(transcribe));
    tokio::select! {
        failed = transcribing => Ok(failed.into_iter().flatten().collect()),
        never = keep_typing(&services.base, at.chat, asked.trigger.message.forum_topic) => match never {},
    }
}

/// Returns the untranscribed voice messages for a trigger: the trigger itself, the message it replies to, then the
/// newest before it.
fn untranscribed(conn: &Reader, trigger: &StoredMessage) -> chime_store::Result<Vec<MessageAt>> {
    let message = &trigger.message;
    let parent = message.reply_to.map(|parent| messages::find(conn, message.chat, parent)).transpose()?.flatten();
    let before = messages::before(conn, trigger.conversation(), (message.sent_at, message.id), JUST_BEFORE)?;
    let near = [Some(trigger.clone()), parent].into_iter().flatten().chain(before.into_iter().rev());
    let mut spoken: Vec<MessageAt> = Vec::new();
    for at in near.filter(|stored| stored.message.lacks_transcript()).map(|stored| MessageAt::of(&stored)) {
        if !spoken.contains(&at) {
            spoken.push(at);
        }
    }
    spoken.truncate(MOST);
    Ok(spoken)
}
