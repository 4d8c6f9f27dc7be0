//! Owners, and the chats in which they allowed the bot by a command in Telegram, in addition to the configuration.

use rusqlite::named_params;

use super::family::{Family, Merged, run_merged};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, Timestamp, UserId};

pub fn add_owner(tx: &Writer<'_>, user: UserId, now: Timestamp) -> Result<()> {
    tx.prepare_cached("INSERT INTO owner (user_id, since) VALUES (:user, :now) ON CONFLICT (user_id) DO NOTHING")?
        .execute(named_params! { ":user": user.0, ":now": now.millis() })?;
    Ok(())
}

pub fn is_owner(conn: &Reader, user: UserId) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM owner WHERE user_id = :user) AS found")?
        .query_row(named_params! { ":user": user.0 }, |raw| raw.get("found"))?)
}

pub fn owners(conn: &Reader) -> Result<Vec<UserId>> {
    let mut statement = conn.prepare_cached("SELECT user_id FROM owner ORDER BY user_id")?;
    let rows = statement.query_map([], |raw| raw.get("user_id").map(UserId))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub fn has_owner(conn: &Reader) -> Result<bool> {
    Ok(conn.query_row("SELECT EXISTS (SELECT 1 FROM owner) AS found", [], |raw| raw.get("found"))?)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Admitted {
    pub owners: u64,
    pub chats: u64,
}

pub fn count(conn: &Reader) -> Result<Admitted> {
    Ok(conn.query_row(
        "SELECT (SELECT count(*) FROM owner) AS owners, (SELECT count(*) FROM allowed_chat) AS chats",
        [],
        |raw| Ok(Admitted { owners: raw.get("owners")?, chats: raw.get("chats")? }),
    )?)
}

pub(super) const FAMILY: Family = Family { tables: &["allowed_chat"], merged, ..Family::UNTOUCHED };

/// Moves the permission to the merged chat. It is allowed if one of the two chats was allowed.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    run_merged(
        tx,
        chats,
        &[
            "INSERT OR IGNORE INTO allowed_chat (chat_key, allowed_by, since)
             SELECT :into, allowed_by, since FROM allowed_chat WHERE chat_key = :from",
            "DELETE FROM allowed_chat WHERE chat_key = :from AND :into <> :from",
        ],
    )
}

pub fn allow(tx: &Writer<'_>, chat: ChatKey, by: UserId, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO allowed_chat (chat_key, allowed_by, since) VALUES (:chat, :by, :now)
         ON CONFLICT (chat_key) DO NOTHING",
    )?
    .execute(named_params! { ":chat": chat.0, ":by": by.0, ":now": now.millis() })?;
    Ok(())
}

pub fn is_allowed(conn: &Reader, chat: ChatKey) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM allowed_chat WHERE chat_key = :chat) AS found")?
        .query_row(named_params! { ":chat": chat.0 }, |raw| raw.get("found"))?)
}

/// Returns all Telegram ids of the chat, current and former.
pub fn ids_of(conn: &Reader, chat: ChatKey) -> Result<Vec<ChatId>> {
    let mut statement = conn.prepare_cached("SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat")?;
    let ids = statement
        .query_map(named_params! { ":chat": chat.0 }, |raw| raw.get("telegram_chat_id").map(ChatId))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(ids)
}
