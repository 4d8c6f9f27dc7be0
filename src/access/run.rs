//! Fetches what the decision needs: a few rows of the store.

use crate::access::{Access, Known, chat_access};
use crate::config::AccessConfig;
use crate::domain::{Chat, ChatKind, UserId};
use crate::store::{Reader, Result, admission, chats};

/// Whether `sender` is served in `chat`, by the configuration and by what owners said in Telegram.
pub fn served(conn: &Reader, chat: &Chat, sender: UserId, config: &AccessConfig) -> Result<Access> {
    let row = chats::find(conn, chat.id)?;
    let former_ids = row.as_ref().map_or(Ok(Vec::new()), |row| admission::ids_of(conn, row.key))?;
    let known = Known {
        former_ids: &former_ids,
        owner_added: row.as_ref().map_or(Ok(false), |row| admission::is_allowed(conn, row.key))?,
        sender_claimed: admission::is_owner(conn, sender)?,
        sender_is_member: chat.kind == ChatKind::Private && chats::is_known_member(conn, sender)?,
    };
    Ok(chat_access(chat, sender, config, &known))
}

/// Whether `user` owns the bot, by the configuration or by `/claim`.
pub fn is_owner(conn: &Reader, user: UserId, config: &AccessConfig) -> Result<bool> {
    Ok(config.is_owner(user) || admission::is_owner(conn, user)?)
}
