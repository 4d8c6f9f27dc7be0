//! Every update as it came, and where polling stands. Both move in one transaction.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{OptionalExtension, named_params};

use super::derived::{Cause, Family};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, MessageId, StoredMessage, Timestamp, UpdateId};

/// One update for the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received<'a> {
    pub id: UpdateId,
    pub kind: &'a str,
    /// None where nothing of the content may be kept.
    pub raw: Option<&'a str>,
    pub at: Timestamp,
    /// Why it could not be taken in, where it could not: the update is parked.
    pub error: Option<&'a str>,
}

/// Whether this very update came before. Telegram restarts ids at random after a quiet week, so only the days around
/// now count.
pub fn is_known(conn: &Reader, id: UpdateId, at: Timestamp) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM inbox
                            WHERE update_id = :id AND received_day BETWEEN :day - 1 AND :day) AS known",
        )?
        .query_row(named_params! { ":id": id.0, ":day": at.day() }, |raw| raw.get("known"))?)
}

pub fn add(tx: &Writer<'_>, update: &Received<'_>) -> Result<()> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO inbox (update_id, received_day, kind, raw, received_at, state, error)
         VALUES (:id, :day, :kind, :raw, :at, :state, :error)",
    )?
    .execute(named_params! {
        ":id": update.id.0, ":day": update.at.day(), ":kind": update.kind, ":raw": update.raw,
        ":at": update.at.millis(), ":state": if update.error.is_some() { "parked" } else { "done" },
        ":error": update.error,
    })?;
    Ok(())
}

/// Writes down which messages a raw update holds, so that it can be found when one of them is to be forgotten.
pub fn index(tx: &Writer<'_>, update: &Received<'_>, held: &BTreeSet<(ChatId, MessageId)>) -> Result<()> {
    let mut insert = tx.prepare_cached(
        "INSERT OR IGNORE INTO inbox_message (telegram_chat_id, message_id, update_id, received_day)
         VALUES (:chat, :message, :update, :day)",
    )?;
    for (chat, message) in held {
        insert.execute(named_params! {
            ":chat": chat.0, ":message": message.0, ":update": update.id.0, ":day": update.at.day(),
        })?;
    }
    Ok(())
}

pub(super) const FAMILY: Family =
    Family { tables: &["inbox", "inbox_message"], words_gone, chat_gone, ..Family::UNTOUCHED };

fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    // A raw update is what came, whatever came after it.
    if cause == Cause::Edited { Ok(()) } else { forget(tx, stored.message.chat, stored.message.id) }
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND received_at <= :until AND (update_id, received_day) IN
             (SELECT update_id, received_day FROM inbox_message
              WHERE telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat))",
    )?
    .execute(named_params! { ":chat": chat.0, ":until": until.millis() })?;
    Ok(())
}

/// Empties every raw update that holds the message.
pub fn forget(tx: &Writer<'_>, chat: ChatId, message: MessageId) -> Result<()> {
    let params = named_params! { ":chat": chat.0, ":message": message.0 };
    tx.prepare_cached(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND (update_id, received_day) IN
             (SELECT update_id, received_day FROM inbox_message
              WHERE telegram_chat_id = :chat AND message_id = :message)",
    )?
    .execute(params)?;
    tx.prepare_cached("DELETE FROM inbox_message WHERE telegram_chat_id = :chat AND message_id = :message")?
        .execute(params)?;
    Ok(())
}

/// Empties every raw update of which nobody knows which messages it holds.
pub fn forget_unindexed(tx: &Writer<'_>) -> Result<()> {
    tx.execute(
        // Of what could be read it is known. Written as its index has it, so that nothing else is looked at.
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND state = 'parked' AND NOT EXISTS
             (SELECT 1 FROM inbox_message AS held
              WHERE held.update_id = inbox.update_id AND held.received_day = inbox.received_day)",
        [],
    )?;
    Ok(())
}

/// Empties every raw update of a chat, or of all, that could not be read: no row tells who said what in it.
pub fn forget_parked(tx: &Writer<'_>, chat: Option<ChatKey>) -> Result<()> {
    tx.prepare_cached(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND state = 'parked' AND EXISTS
             (SELECT 1 FROM inbox_message AS held JOIN chat_alias USING (telegram_chat_id)
              WHERE held.update_id = inbox.update_id AND held.received_day = inbox.received_day
                  AND (:chat IS NULL OR chat_key = :chat))",
    )?
    .execute(named_params! { ":chat": chat.map(|key| key.0) })?;
    Ok(())
}

/// What is kept of the update that brought a message, beside its row. Later ones may enclose it: the first is its own.
pub fn of_message(conn: &Reader, chat: ChatId, message: MessageId) -> Result<Option<String>> {
    Ok(conn
        .prepare_cached(
            "SELECT raw FROM inbox_message JOIN inbox USING (update_id, received_day)
             WHERE telegram_chat_id = :chat AND message_id = :message ORDER BY received_at, update_id LIMIT 1",
        )?
        .query_row(named_params! { ":chat": chat.0, ":message": message.0 }, |raw| raw.get("raw"))
        .optional()?
        .flatten())
}

/// What is kept of every update that holds a message, beside the rows, newest first.
pub fn that_hold(conn: &Reader, chat: ChatId, message: MessageId) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT raw FROM inbox_message JOIN inbox USING (update_id, received_day)
         WHERE telegram_chat_id = :chat AND message_id = :message AND raw IS NOT NULL
         ORDER BY received_at DESC, update_id DESC LIMIT 20",
    )?;
    let rows = statement.query_map(named_params! { ":chat": chat.0, ":message": message.0 }, |raw| raw.get("raw"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The offset to ask for next. None at the very start, and when the last update is older than `max_age`: Telegram
/// counts anew after a quiet week, and an offset from before would be a number of another series.
pub fn next_offset(conn: &Reader, now: Timestamp, max_age: Duration) -> Result<Option<i64>> {
    let state = conn
        .prepare_cached("SELECT next_offset, updated_at FROM poll_state WHERE id = 1")?
        .query_row([], |raw| Ok((raw.get::<_, i64>("next_offset")?, raw.get::<_, i64>("updated_at")?)))
        .optional()?;
    Ok(state.filter(|(_, at)| now.since(Timestamp::from_millis(*at)) <= max_age).map(|(offset, _)| offset))
}

/// What the clock showed when updates were last stored.
pub fn last_stored_at(conn: &Reader) -> Result<Option<Timestamp>> {
    let at = conn
        .prepare_cached("SELECT updated_at FROM poll_state WHERE id = 1")?
        .query_row([], |raw| raw.get("updated_at"))
        .optional()?;
    Ok(at.map(Timestamp::from_millis))
}

pub fn set_next_offset(tx: &Writer<'_>, offset: i64, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO poll_state (id, next_offset, updated_at) VALUES (1, :offset, :now)
         ON CONFLICT (id) DO UPDATE SET next_offset = excluded.next_offset, updated_at = excluded.updated_at",
    )?
    .execute(named_params! { ":offset": offset, ":now": now.millis() })?;
    Ok(())
}

/// Updates stored and parked so far.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    Ok(conn.query_row(
        "SELECT count(*) AS total, count(*) FILTER (WHERE state = 'parked') AS parked FROM inbox",
        [],
        |raw| Ok((raw.get("total")?, raw.get("parked")?)),
    )?)
}

/// Forgets updates received before `day`; what they said lives on in their rows.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "DELETE FROM inbox WHERE (update_id, received_day) IN
                 (SELECT update_id, received_day FROM inbox WHERE received_day < :day LIMIT :limit)",
        )?
        .execute(named_params! { ":day": before.day(), ":limit": limit })?)
}
