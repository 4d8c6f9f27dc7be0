//! Checks if a member may ask, in chats that allow questions only from admins.

use crate::answering::services::Services;
use chime_access::admission::is_owner;
use chime_core::chat_settings::ASKERS;
use chime_core::{Askers, UserId};
use chime_store::chats::ChatRow;

/// Returns `true` if `user` may ask in `chat`: anybody if the chat has no restriction, else admins of the chat and
/// owners of the bot. If Telegram does not say who is an admin, the member may ask, since an answer to the wrong
/// person does less harm than a refusal.
pub(super) async fn may_ask(services: &Services, chat: &ChatRow, user: UserId) -> chime_store::Result<bool> {
    if chat.settings.get(ASKERS) != Some(Askers::Admins) {
        return Ok(true);
    }
    let access = services.access.clone();
    if services.store.read(move |conn| is_owner(conn, user, &access)).await? {
        return Ok(true);
    }
    Ok(match services.telegram.standing(chat.chat.id, user).await {
        Ok(status) => status.is_admin(),
        Err(error) => {
            tracing::info!(%error, "whether an admin asks is not known");
            true
        }
    })
}
