//! Whether somebody may ask, where the admins of a chat let nobody else.

use crate::access::run::is_owner;
use crate::answer::run::Answering;
use crate::domain::{Askers, UserId};
use crate::store;
use crate::store::chats::ChatRow;

impl Answering {
    /// Everybody may in a private chat, and whoever runs the bot may everywhere. Where Telegram does not say who is an admin,
    /// an answer is the lesser harm.
    pub(super) async fn may_ask(&self, chat: &ChatRow, user: UserId) -> store::Result<bool> {
        if chat.askers == Askers::Everybody {
            return Ok(true);
        }
        let access = self.parts.access.clone();
        if self.parts.store.read(move |conn| is_owner(conn, user, &access)).await? {
            return Ok(true);
        }
        Ok(match self.parts.telegram.standing(chat.chat.id, user).await {
            Ok(status) => status.is_admin(),
            Err(error) => {
                tracing::info!(%error, "whether an admin asks is not known");
                true
            }
        })
    }
}
