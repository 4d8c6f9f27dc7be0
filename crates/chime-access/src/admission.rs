//! Fetches what the decision needs: a few rows of the store.

use crate::{Access, Known, Recent, chat_access, subject};
use chime_core::config::{AccessConfig, RateLimit};
use chime_core::{Because, Chat, ChatKind, Conversation, Timestamp, UserId};
use chime_store::{Reader, Result, admission, chats, refusals};

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

/// What was asked lately in `conversation`, and by `user` anywhere, for whoever decides on one more at `at`.
pub fn recent(
    conn: &Reader,
    conversation: Conversation,
    user: UserId,
    at: Timestamp,
    limit: RateLimit,
) -> Result<Recent> {
    let after = at.minus(limit.per);
    let told = |because| refusals::told(conn, &subject(because, conversation, user, at));
    Ok(Recent {
        of_conversation: refusals::triggers_of_conversation(conn, conversation, after)?,
        of_member: refusals::triggers_of_member(conn, user, after)?,
        told_conversation: told(Because::Conversation)?,
        told_member: told(Because::Member)?,
    })
}
