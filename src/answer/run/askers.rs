//! Whether somebody may ask, where the admins of a chat let nobody else.

use crate::access::run::is_owner;
use crate::answer::run::Answering;
use crate::domain::{Askers, ChatKind, UserId};
use crate::store::chats::ChatRow;
use crate::store::{self};

impl Answering {
    /// Everybody may in a private chat, and whoever runs the bot may everywhere. Where Telegram does not say who is an admin,
    /// an answer is the lesser harm.
    pub(super) async fn may_ask(&self, chat: &ChatRow, user: UserId) -> store::Result<bool> {
        if chat.askers == Askers::Everybody || chat.chat.kind == ChatKind::Private {
            return Ok(true);
        }
        // Ids of groups and channels are below zero. Only admins write in the name of their group.
        if user.0 < 0 {
            return Ok(user.0 == chat.chat.id.0);
        }
        let access = self.parts.access.clone();
        if self.parts.store.read(move |conn| is_owner(conn, user, &access)).await? {
            return Ok(true);
        }
        Ok(match self.parts.telegram.get_chat_member(chat.chat.id, user).await {
            Ok(status) => status.is_admin(),
            Err(error) => {
                tracing::info!(%error, "whether an admin asks is not known");
                true
            }
        })
    }
}
