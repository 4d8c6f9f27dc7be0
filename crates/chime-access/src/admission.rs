//! Loads from the database what the access and rate decisions need.

use crate::{Access, AccessFacts, CONTROLS, Recent, chat_access, subject};
use chime_core::config::{AccessConfig, RateLimit};
use chime_core::{Chat, ChatKind, Conversation, RefusalReason, Timestamp, UserId};
use chime_store::{Reader, Result, admission, chats, refusals};

/// Decides if the bot serves `sender` in `chat`, from the configuration and from owners added in Telegram.
pub fn served(conn: &Reader, chat: &Chat, sender: UserId, config: &AccessConfig) -> Result<Access> {
    let row = chats::find(conn, chat.id)?;
    let former_ids = row.as_ref().map_or(Ok(Vec::new()), |row| admission::ids_of(conn, row.key))?;
    let known = AccessFacts {
        former_ids: &former_ids,
        owner_added: row.as_ref().map_or(Ok(false), |row| admission::is_allowed(conn, row.key))?,
        sender_claimed: admission::is_owner(conn, sender)?,
        sender_is_member: chat.kind == ChatKind::Private && chats::is_known_member(conn, sender)?,
    };
    Ok(chat_access(chat, sender, config, &known))
}

/// Returns `true` if `user` owns the bot, by configuration or by `/claim`.
pub fn is_owner(conn: &Reader, user: UserId, config: &AccessConfig) -> Result<bool> {
    Ok(config.is_owner(user) || admission::is_owner(conn, user)?)
}

/// Loads the input of [`admit`](crate::admit): the triggers of `conversation` and of `user` that were admitted within
/// the limit's period before `at`, and the last refusals that were explained to them in words.
pub fn recent(
    conn: &Reader,
    conversation: Conversation,
    user: UserId,
    at: Timestamp,
    limit: RateLimit,
) -> Result<Recent> {
    let after = at.minus(limit.per);
    let shown = |because| refusals::explained(conn, &subject(because, conversation, user, at));
    Ok(Recent {
        of_conversation: refusals::triggers_of_conversation(conn, conversation, after)?,
        of_member: refusals::triggers_of_member(conn, user, after)?,
        told_conversation: shown(RefusalReason::Conversation)?,
        told_member: shown(RefusalReason::Member)?,
    })
}

/// Loads the input of [`admit_control`](crate::admit_control).
pub fn recent_controls(conn: &Reader, conversation: Conversation, user: UserId, at: Timestamp) -> Result<Recent> {
    let subject = subject(RefusalReason::Member, conversation, user, at);
    Ok(Recent {
        of_member: refusals::controls_of_member(conn, user, at.minus(CONTROLS.per))?,
        told_member: refusals::explained(conn, &subject)?,
        ..Recent::default()
    })
}
