//! Raw updates as received from Telegram, and the offset for the next poll. Both are stored in one transaction.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{OptionalExtension, named_params};

use super::family::{Cause, Family};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, MessageId, StoredMessage, Timestamp, UpdateId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received<'a> {
    pub id: UpdateId,
    pub kind: &'a str,
    /// `None` if the content must not be stored.
    pub raw: Option<&'a str>,
    pub at: Timestamp,
    /// Reason why the update could not be processed, or `None`. An update with an error is stored as parked.
    pub error: Option<&'a str>,
}

/// Returns `true` if an update with this id was stored on the day of `at` or the day before. Older ones do not count,
/// because after a week without updates Telegram continues with a random id.
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

/// Records the messages that a raw update contains, so that forgetting one of them can find and clear the update.
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
    // An edit does not clear the raw update with the earlier text.
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

/// Clears the raw JSON of every update that contains the message.
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

/// Clears raw updates for which no messages are recorded, because forgetting a message cannot find them.
pub fn forget_unindexed(tx: &Writer<'_>) -> Result<()> {
    tx.execute(
        // Updates that could be parsed always have recorded messages, so only parked ones are read. The condition is
        // the one of a partial index, which makes this fast.
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND state = 'parked' AND NOT EXISTS
             (SELECT 1 FROM inbox_message AS held
              WHERE held.update_id = inbox.update_id AND held.received_day = inbox.received_day)",
        [],
    )?;
    Ok(())
}

/// Clears raw updates of a chat, or of all chats for `None`, that could not be processed. Their authors are not
/// recorded, so they cannot be selected by member.
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

/// Returns the raw update that brought a message, if it is still stored. Later updates may contain the message too,
/// inside a reply; the first one is its own.
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

/// Returns up to 20 stored raw updates that contain a message, newest first.
pub fn that_hold(conn: &Reader, chat: ChatId, message: MessageId) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached(
        "SELECT raw FROM inbox_message JOIN inbox USING (update_id, received_day)
         WHERE telegram_chat_id = :chat AND message_id = :message AND raw IS NOT NULL
         ORDER BY received_at DESC, update_id DESC LIMIT 20",
    )?;
    let rows = statement.query_map(named_params! { ":chat": chat.0, ":message": message.0 }, |raw| raw.get("raw"))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the offset for the next poll. Returns `None` at the first start, and if the last update is older than
/// `max_age`: after a week without updates Telegram continues with a random id, so the stored offset is useless.
pub fn next_offset(conn: &Reader, now: Timestamp, max_age: Duration) -> Result<Option<i64>> {
    let state = conn
        .prepare_cached("SELECT next_offset, updated_at FROM poll_state WHERE id = 1")?
        .query_row([], |raw| Ok((raw.get::<_, i64>("next_offset")?, raw.get::<_, i64>("updated_at")?)))
        .optional()?;
    Ok(state.filter(|(_, at)| now.since(Timestamp::from_millis(*at)) <= max_age).map(|(offset, _)| offset))
}

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

/// Returns the number of all stored updates and the number of parked ones.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    Ok(conn.query_row(
        "SELECT count(*) AS total, count(*) FILTER (WHERE state = 'parked') AS parked FROM inbox",
        [],
        |raw| Ok((raw.get("total")?, raw.get("parked")?)),
    )?)
}

/// Deletes at most `limit` updates received before the day of `before`, and returns their number. Messages stored from
/// these updates stay.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "DELETE FROM inbox WHERE (update_id, received_day) IN
                 (SELECT update_id, received_day FROM inbox WHERE received_day < :day LIMIT :limit)",
        )?
        .execute(named_params! { ":day": before.day(), ":limit": limit })?)
}
