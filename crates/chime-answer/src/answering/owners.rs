//! Informs the owners of the bot, at most once a day for each reason, that the model server refuses requests for a
//! reason that only an operator can remove.

use crate::answering::reply::format_own;
use crate::answering::services::Services;
use chime_core::{ChatId, ReplyTarget};
use chime_llm::LlmError;
use chime_store::outbox::{self, NewReply, Purpose};
use chime_store::{Priority, admission};

/// Sends each owner a private message about `error`, if it concerns every question. A failure to do so is only logged,
/// since the member still gets the apology.
pub(super) async fn tell_owners(services: &Services, error: &LlmError) {
    let reason = match error {
        LlmError::Refused { check, .. } => format!("{check:?}"),
        LlmError::NoRoom => error.kind().to_owned(),
        _ => return,
    };
    if let Err(error) = write_to_owners(services, &reason, notice_to_owner(error)).await {
        tracing::warn!(%error, "the owners are not told that the model server refuses");
    }
}

async fn write_to_owners(services: &Services, reason: &str, markdown: String) -> chime_store::Result<()> {
    let (configured, now) = (services.base.config.access.owners.clone(), services.base.clock.now());
    let about = format!("{}:{reason}", now.day());
    let write = move |tx: &chime_store::Writer<'_>| {
        let mut owners = admission::owners(tx)?;
        owners.extend(configured);
        owners.sort();
        owners.dedup();
        for owner in owners {
            let key = format!("model_refuses:{owner}:{about}");
            if outbox::exists(tx, &key)? {
                continue;
            }
            // A private chat has the same id as its user.
            let to = ReplyTarget { chat: ChatId(owner.0), forum_topic: None, reply_to: None };
            outbox::add(tx, &NewReply::own(Purpose::Notice, key, to, format_own(&markdown)), now)?;
        }
        Ok(())
    };
    services.base.store.write(Priority::Background, write).await?;
    services.base.wake.wake();
    Ok(())
}

fn notice_to_owner(error: &LlmError) -> String {
    format!(
        "To you as the owner: I cannot answer anybody at the moment, because {error}. `chime check` on my machine shows \
         what the server says. I tell you once a day at most."
    )
}
