//! Raw updates as received from Telegram, and the offset for the next poll. Both are stored in one transaction.

use std::collections::BTreeSet;
use std::time::Duration;

use super::family::{Cause, Family};
use super::sql::{Statements, params};
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
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM inbox
         WHERE update_id = :id AND received_day BETWEEN :day - 1 AND :day) AS known",
        params! { ":id": id, ":day": at.day() },
    )
}

pub fn add(tx: &Writer<'_>, update: &Received<'_>) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO inbox (update_id, received_day, kind, raw, received_at, state, error)
         VALUES (:id, :day, :kind, :raw, :at, :state, :error)",
        params! {
            ":id": update.id, ":day": update.at.day(), ":kind": update.kind, ":raw": update.raw,
            ":at": update.at, ":state": if update.error.is_some() { "parked" } else { "done" },
            ":error": update.error,
        },
    )
}

/// Records the messages that a raw update contains, so that forgetting one of them can find and clear the update.
pub fn index(tx: &Writer<'_>, update: &Received<'_>, held: &BTreeSet<(ChatId, MessageId)>) -> Result<()> {
    for (chat, message) in held {
        tx.run(
            "INSERT OR IGNORE INTO inbox_message (telegram_chat_id, message_id, update_id, received_day)
             VALUES (:chat, :message, :update, :day)",
            params! {
                ":chat": chat, ":message": message, ":update": update.id, ":day": update.at.day(),
            },
        )?;
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
    tx.run(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND received_at <= :until AND (update_id, received_day) IN
         (SELECT update_id, received_day FROM inbox_message
          WHERE telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat))",
        params! { ":chat": chat, ":until": until },
    )
}

/// Clears the raw JSON of every update that contains the message.
pub fn forget(tx: &Writer<'_>, chat: ChatId, message: MessageId) -> Result<()> {
    let params = params! { ":chat": chat, ":message": message };
    tx.run(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND (update_id, received_day) IN
         (SELECT update_id, received_day FROM inbox_message
          WHERE telegram_chat_id = :chat AND message_id = :message)",
        params,
    )?;
    tx.run("DELETE FROM inbox_message WHERE telegram_chat_id = :chat AND message_id = :message", params)
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
    tx.run(
        "UPDATE inbox SET raw = NULL WHERE raw IS NOT NULL AND state = 'parked' AND EXISTS
         (SELECT 1 FROM inbox_message AS held JOIN chat_alias USING (telegram_chat_id)
          WHERE held.update_id = inbox.update_id AND held.received_day = inbox.received_day
              AND (:chat IS NULL OR chat_key = :chat))",
        params! { ":chat": chat },
    )
}

/// Returns the offset for the next poll. Returns `None` at the first start, and if the last update is older than
/// `max_age`: after a week without updates Telegram continues with a random id, so the stored offset is useless.
pub fn next_offset(conn: &Reader, now: Timestamp, max_age: Duration) -> Result<Option<i64>> {
    let state: Option<(i64, Timestamp)> =
        conn.first("SELECT next_offset, updated_at FROM poll_state WHERE id = 1", &[])?;
    Ok(state.filter(|(_, at)| now.since(*at) <= max_age).map(|(offset, _)| offset))
}

pub fn last_stored_at(conn: &Reader) -> Result<Option<Timestamp>> {
    conn.first("SELECT updated_at FROM poll_state WHERE id = 1", &[])
}

pub fn set_next_offset(tx: &Writer<'_>, offset: i64, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO poll_state (id, next_offset, updated_at) VALUES (1, :offset, :now)
         ON CONFLICT (id) DO UPDATE SET next_offset = excluded.next_offset, updated_at = excluded.updated_at",
        params! { ":offset": offset, ":now": now },
    )
}

/// Returns the number of all stored updates and the number of parked ones.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    conn.one("SELECT count(*) AS total, count(*) FILTER (WHERE state = 'parked') AS parked FROM inbox", &[])
}

/// Deletes at most `limit` updates received before the day of `before`, and returns their number. Messages stored from
/// these updates stay.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM inbox WHERE (update_id, received_day) IN
         (SELECT update_id, received_day FROM inbox WHERE received_day < :day LIMIT :limit)",
        params! { ":day": before.day(), ":limit": limit },
    )
}
