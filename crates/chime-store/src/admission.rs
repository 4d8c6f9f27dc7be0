//! Owners, and the chats in which they allowed the bot by a command in Telegram, in addition to the configuration.

use super::family::Family;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::config::{AccessConfig, AllowedChats};
use chime_core::{ChatId, ChatKey, Timestamp, UserId};

pub fn add_owner(tx: &Writer<'_>, user: UserId, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO owner (user_id, since) VALUES (:user, :now) ON CONFLICT (user_id) DO NOTHING",
        params! { ":user": user, ":now": now },
    )
}

pub fn is_owner(conn: &Reader, user: UserId) -> Result<bool> {
    conn.one("SELECT EXISTS (SELECT 1 FROM owner WHERE user_id = :user) AS found", params! { ":user": user })
}

pub fn owners(conn: &Reader) -> Result<Vec<UserId>> {
    conn.all("SELECT user_id FROM owner ORDER BY user_id", &[])
}

pub fn has_owner(conn: &Reader) -> Result<bool> {
    conn.any("SELECT 1 FROM owner", &[])
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Admitted {
    pub owners: u64,
    pub chats: u64,
}

/// Counts the owners and chats that are in the database and not in the configuration too.
pub fn count_further(conn: &Reader, config: &AccessConfig) -> Result<Admitted> {
    let listed = match &config.chats {
        AllowedChats::All => &[],
        AllowedChats::Only(listed) => listed.as_slice(),
    };
    let chats: Vec<ChatId> = conn.all("SELECT telegram_chat_id FROM allowed_chat JOIN chat USING (chat_key)", &[])?;
    let further = chats.iter().filter(|chat| !listed.contains(chat)).count();
    let owners = owners(conn)?.into_iter().filter(|owner| !config.is_owner(*owner)).count();
    Ok(Admitted { owners: owners as u64, chats: further as u64 })
}

pub(super) const FAMILY: Family =
    Family { tables: &["allowed_chat"], moved: &[("allowed_chat", None)], ..Family::UNTOUCHED };

pub fn allow(tx: &Writer<'_>, chat: ChatKey, by: UserId, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO allowed_chat (chat_key, allowed_by, since) VALUES (:chat, :by, :now)
         ON CONFLICT (chat_key) DO NOTHING",
        params! { ":chat": chat, ":by": by, ":now": now },
    )
}

pub fn is_allowed(conn: &Reader, chat: ChatKey) -> Result<bool> {
    conn.one("SELECT EXISTS (SELECT 1 FROM allowed_chat WHERE chat_key = :chat) AS found", params! { ":chat": chat })
}

pub fn ids_of(conn: &Reader, chat: ChatKey) -> Result<Vec<ChatId>> {
    conn.all("SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat", params! { ":chat": chat })
}
