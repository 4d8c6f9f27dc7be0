//! Owners, and the chats in which they allowed the bot by a command in Telegram, in addition to the configuration.

use super::family::Family;
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer};
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

rows! { Admitted { owners, chats } }

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Admitted {
    pub owners: u64,
    pub chats: u64,
}

pub fn count(conn: &Reader) -> Result<Admitted> {
    conn.one("SELECT (SELECT count(*) FROM owner) AS owners, (SELECT count(*) FROM allowed_chat) AS chats", &[])
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
