//! Subscriptions of chats to regular recaps. They contain no text, because a recap is only written when it is due.

use rusqlite::{OptionalExtension, Row, named_params};

use super::family::{Family, run_merged};
use super::{Reader, Result, Writer, row};
use chime_core::{ChatKey, ThreadId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub chat: ChatKey,
    /// Forum topic in which the recap is posted; `None` for a chat without topics.
    pub thread: Option<ThreadId>,
    /// Day of the week, 0 for Monday; `None` for every day.
    pub weekday: Option<u8>,
    /// Minutes since midnight in the chat's time zone.
    pub minute: u16,
    /// Time up to which the last recap covers the messages. The next one begins there.
    pub since: Timestamp,
}

const COLUMNS: &str = "chat_key, thread_id, weekday, minute, since_at";

pub(super) const FAMILY: Family = Family {
    tables: &["recap_subscription"],
    chat_gone: |tx, chat, _| remove(tx, chat).map(drop),
    merged: |tx, chats| {
        // If both chats have a subscription, the one of the remaining chat stays.
        let moved = "UPDATE OR IGNORE recap_subscription SET chat_key = :into WHERE chat_key = :from";
        run_merged(tx, chats, &[moved])?;
        remove(tx, chats.from).map(drop)
    },
    ..Family::UNTOUCHED
};

/// Subscribes a chat. An earlier subscription of the chat is replaced.
pub fn set(tx: &Writer<'_>, subscription: &Subscription) -> Result<()> {
    tx.prepare_cached(
        "INSERT OR REPLACE INTO recap_subscription (chat_key, thread_id, weekday, minute, since_at)
         VALUES (:chat, :thread, :weekday, :minute, :since)",
    )?
    .execute(named_params! {
        ":chat": subscription.chat.0, ":thread": subscription.thread.map(|id| id.0), ":weekday": subscription.weekday,
        ":minute": subscription.minute, ":since": subscription.since.millis(),
    })?;
    Ok(())
}

/// Deletes the subscription of a chat. Returns `false` if it had none.
pub fn remove(tx: &Writer<'_>, chat: ChatKey) -> Result<bool> {
    let removed = tx
        .prepare_cached("DELETE FROM recap_subscription WHERE chat_key = :chat")?
        .execute(named_params! { ":chat": chat.0 })?;
    Ok(removed > 0)
}

/// Records that messages up to `until` are covered by a recap that was posted or whose job is stored.
pub fn advance(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.prepare_cached("UPDATE recap_subscription SET since_at = :until WHERE chat_key = :chat")?
        .execute(named_params! { ":until": until.millis(), ":chat": chat.0 })?;
    Ok(())
}

pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Option<Subscription>> {
    let sql = format!("SELECT {COLUMNS} FROM recap_subscription WHERE chat_key = :chat");
    conn.prepare_cached(&sql)?
        .query_row(named_params! { ":chat": chat.0 }, |raw| Ok(from_row(raw)))
        .optional()?
        .transpose()
}

pub fn all(conn: &Reader) -> Result<Vec<Subscription>> {
    let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM recap_subscription ORDER BY chat_key"))?;
    let rows = statement.query_map([], |raw| Ok(from_row(raw)))?;
    rows.map(|row| row?).collect()
}

fn from_row(raw: &Row<'_>) -> Result<Subscription> {
    let weekday: Option<i64> = row::get(raw, "weekday")?;
    Ok(Subscription {
        chat: ChatKey(row::number(row::get(raw, "chat_key")?, "chat_key")?),
        thread: row::get::<Option<i64>>(raw, "thread_id")?.map(ThreadId),
        weekday: weekday.map(|day| row::number(day, "weekday")).transpose()?,
        minute: row::number(row::get(raw, "minute")?, "minute")?,
        since: Timestamp::from_millis(row::get(raw, "since_at")?),
    })
}
