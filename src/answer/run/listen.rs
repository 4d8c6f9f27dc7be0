//! What is spoken around a trigger is written down before it is answered.

use std::time::Duration;

use futures::future::join_all;

use crate::answer::run::Answering;
use crate::domain::{MessageAt, StoredMessage, UserId};
use crate::resilience::within;
use crate::store::{self, Reader, messages};

/// Messages before a trigger among which spoken ones are listened to, where nobody has yet.
const JUST_BEFORE: usize = 8;
/// As many of them, at most: the newest.
const MOST: usize = 3;
/// Longer nobody waits for words that were spoken.
const PATIENCE: Duration = Duration::from_secs(30);

impl Answering {
    /// Has the trigger `at`, what it replies to and what was said just before it written down, where they are spoken. It only
    /// enriches.
    pub(super) async fn have_heard(&self, at: MessageAt) {
        let Some(listener) = &self.parts.listener else { return };
        let unheard = self.parts.store.read(move |conn| unheard(conn, at)).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "nobody knows what was spoken before the question");
            None
        });
        let Some(Unheard { trigger, member, spoken }) = unheard else { return };
        let listening = join_all(spoken.into_iter().map(|at| listener.hear_for(member, at)));
        let thread = trigger.message.thread;
        tokio::select! {
            heard = within(&self.parts.clock, PATIENCE, listening) => {
                if heard.is_none() {
                    tracing::warn!("what was spoken is not written down in time");
                }
            }
            never = self.keep_typing(at.chat, thread) => match never {},
        }
    }
}

/// What is still to be heard for a trigger.
struct Unheard {
    trigger: StoredMessage,
    member: UserId,
    spoken: Vec<MessageAt>,
}

/// None where nothing is to be heard, or the trigger is not kept.
fn unheard(conn: &Reader, at: MessageAt) -> store::Result<Option<Unheard>> {
    let Some(trigger) = messages::find(conn, at.chat, at.message)? else { return Ok(None) };
    let moment = (trigger.message.sent_at, trigger.message.id);
    let parent = trigger.message.reply_to.map(|parent| messages::find(conn, at.chat, parent)).transpose()?.flatten();
    let before = messages::before(conn, trigger.conversation(), moment, JUST_BEFORE)?;
    let near = [Some(trigger.clone()), parent].into_iter().flatten().chain(before.into_iter().rev());
    let mut spoken: Vec<MessageAt> = Vec::new();
    for at in near.filter(|stored| stored.message.is_unheard()).map(|stored| MessageAt::of(&stored)) {
        if !spoken.contains(&at) {
            spoken.push(at);
        }
    }
    spoken.truncate(MOST);
    let member = trigger.message.sender.id;
    Ok((!spoken.is_empty()).then_some(Unheard { trigger, member, spoken }))
}
