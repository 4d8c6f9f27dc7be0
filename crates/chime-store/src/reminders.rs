//! Reminders that members asked for. They contain no text: the words are those of the message that asked.

use rusqlite::{OptionalExtension, Row, named_params};

use super::family::{Cause, Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, Writer, row};
use chime_core::{ChatId, ChatKey, MessageId, Seq, StoredMessage, ThreadId, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reminder {
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
    pub asked_by: UserId,
    /// The message that asked, with the Telegram id that its chat had then.
    pub seq: Seq,
    pub asked_in: ChatId,
    pub message: MessageId,
    /// The message that this one replied to, or itself: where the reminder began.
    pub began: MessageId,
    /// The next time.
    pub due_at: Timestamp,
    pub repeat: Option<RepeatTime>,
    /// End of the last day of the repetition, excluded.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatTime {
    /// Day of the week, 0 for Monday; `None` for every day.
    pub weekday: Option<u8>,
    /// Minutes since midnight in the chat's time zone.
    pub minute: u16,
}

const COLUMNS: &str = "id, chat_key, thread_id, user_id, seq, telegram_chat_id, message_id, began_id, due_at, weekday, minute, \
                       until_at";

pub(super) const FAMILY: Family = Family { tables: &["reminder"], words_gone, opted_out, chat_gone, merged };

fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause == Cause::Forgotten {
        tx.prepare_cached("DELETE FROM reminder WHERE chat_key = :chat AND seq = :seq")?
            .execute(named_params! { ":chat": stored.chat.0, ":seq": stored.seq.0 })?;
    }
    Ok(())
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached("DELETE FROM reminder WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)")?
        .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.prepare_cached("DELETE FROM reminder WHERE chat_key = :chat")?.execute(named_params! { ":chat": chat.0 })?;
    Ok(())
}

fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    for (was, now) in &chats.seqs {
        tx.prepare_cached(
            "UPDATE OR REPLACE reminder SET chat_key = :into, seq = :now WHERE chat_key = :from AND seq = :was",
        )?
        .execute(named_params! {
            ":into": chats.into.0, ":now": now.0, ":from": chats.from.0, ":was": was.0,
        })?;
    }
    let moved = "UPDATE OR REPLACE reminder SET chat_key = :into WHERE chat_key = :from AND :into <> :from";
    run_merged(tx, chats, &[moved])
}

/// Stores a reminder and returns its row id. An earlier one of the same message is replaced.
pub fn set(tx: &Writer<'_>, reminder: &Reminder) -> Result<i64> {
    tx.prepare_cached(&format!(
        "INSERT OR REPLACE INTO reminder ({COLUMNS})
         VALUES (NULL, :chat, :thread, :user, :seq, :in, :message, :began, :due, :weekday, :minute, :until)"
    ))?
    .execute(named_params! {
        ":chat": reminder.chat.0, ":thread": reminder.thread.map(|id| id.0), ":user": reminder.asked_by.0,
        ":seq": reminder.seq.0, ":in": reminder.asked_in.0, ":message": reminder.message.0,
        ":began": reminder.began.0, ":due": reminder.due_at.millis(),
        ":weekday": reminder.repeat.and_then(|repeat| repeat.weekday),
        ":minute": reminder.repeat.map(|repeat| repeat.minute),
        ":until": reminder.until.map(Timestamp::millis),
    })?;
    Ok(tx.last_insert_rowid())
}

pub fn set_due(tx: &Writer<'_>, id: i64, due_at: Timestamp) -> Result<()> {
    tx.prepare_cached("UPDATE reminder SET due_at = :due WHERE id = :id")?
        .execute(named_params! { ":due": due_at.millis(), ":id": id })?;
    Ok(())
}

pub fn remove(tx: &Writer<'_>, id: i64) -> Result<()> {
    tx.prepare_cached("DELETE FROM reminder WHERE id = :id")?.execute(named_params! { ":id": id })?;
    Ok(())
}

pub fn find(conn: &Reader, id: i64) -> Result<Option<Reminder>> {
    let sql = format!("SELECT {COLUMNS} FROM reminder WHERE id = :id");
    let found = conn.prepare_cached(&sql)?.query_row(named_params! { ":id": id }, |raw| Ok(from_row(raw)));
    found.optional()?.transpose().map(|found| found.map(|(_, reminder)| reminder))
}

/// Returns the reminders of a chat with their row ids, the next one first.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(i64, Reminder)>> {
    let sql = format!("SELECT {COLUMNS} FROM reminder WHERE chat_key = :chat ORDER BY due_at, id");
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(named_params! { ":chat": chat.0 }, |raw| Ok(from_row(raw)))?;
    rows.map(|row| row?).collect()
}

/// Returns the reminders that are due in the chats that the bot is in, with their row ids.
pub fn due(conn: &Reader, now: Timestamp) -> Result<Vec<(i64, Reminder)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reminder
         WHERE due_at <= :now AND (SELECT is_member FROM chat WHERE chat.chat_key = reminder.chat_key) = 1
         ORDER BY due_at, id"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map(named_params! { ":now": now.millis() }, |raw| Ok(from_row(raw)))?;
    rows.map(|row| row?).collect()
}

/// Returns the number of reminders that a member has in all chats.
pub fn count_of(conn: &Reader, user: UserId) -> Result<usize> {
    let count: i64 = conn
        .prepare_cached("SELECT count(*) AS reminders FROM reminder WHERE user_id = :user")?
        .query_row(named_params! { ":user": user.0 }, |raw| raw.get("reminders"))?;
    row::number(count, "reminders")
}

fn from_row(raw: &Row<'_>) -> Result<(i64, Reminder)> {
    let (weekday, minute): (Option<i64>, Option<i64>) = (row::get(raw, "weekday")?, row::get(raw, "minute")?);
    let weekday = weekday.map(|day| row::number(day, "weekday")).transpose()?;
    let minute = minute.map(|minute| row::number(minute, "minute")).transpose()?;
    let reminder = Reminder {
        chat: ChatKey(row::number(row::get(raw, "chat_key")?, "chat_key")?),
        thread: row::get::<Option<i64>>(raw, "thread_id")?.map(ThreadId),
        asked_by: UserId(row::get(raw, "user_id")?),
        seq: Seq(row::number(row::get(raw, "seq")?, "seq")?),
        asked_in: ChatId(row::get(raw, "telegram_chat_id")?),
        message: MessageId(row::get(raw, "message_id")?),
        began: MessageId(row::get(raw, "began_id")?),
        due_at: Timestamp::from_millis(row::get(raw, "due_at")?),
        repeat: minute.map(|minute| RepeatTime { weekday, minute }),
        until: row::get::<Option<i64>>(raw, "until_at")?.map(Timestamp::from_millis),
    };
    Ok((row::get(raw, "id")?, reminder))
}
