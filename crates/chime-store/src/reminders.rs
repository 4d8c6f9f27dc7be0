//! Reminders that members requested. They contain no text: it is in the message with the request.

use super::family::{Cause, Family, OptOutScope};
use super::sql::{Columns, Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, ChatKey, ForumTopicId, MessageId, Seq, StoredMessage, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reminder {
    pub chat: ChatKey,
    pub forum_topic: Option<ForumTopicId>,
    pub asked_by: UserId,
    /// The message with the request. `asked_in` is the id that its chat then had.
    pub seq: Seq,
    pub asked_in: ChatId,
    pub message: MessageId,
    /// The message to which the request replied, or the request itself.
    pub began: MessageId,
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

const COLUMNS: &str = "id, chat_key, forum_topic_id, user_id, seq, telegram_chat_id, message_id, began_id, due_at, weekday, minute, \
                       until_at";

pub(super) const FAMILY: Family = Family {
    tables: &["reminder"],
    moved: &[("reminder", Some("seq"))],
    words_gone,
    opted_out,
    chat_gone,
    ..Family::UNTOUCHED
};

fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause != Cause::Forgotten {
        return Ok(());
    }
    tx.run(
        "DELETE FROM reminder WHERE chat_key = :chat AND seq = :seq",
        params! { ":chat": stored.chat, ":seq": stored.seq },
    )
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM reminder WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.run("DELETE FROM reminder WHERE chat_key = :chat", params! { ":chat": chat })
}

/// Stores a reminder and returns its row id. An earlier one of the same message is replaced.
pub fn set(tx: &Writer<'_>, reminder: &Reminder) -> Result<i64> {
    let sql = format!(
        "INSERT OR REPLACE INTO reminder ({COLUMNS})
         VALUES (NULL, :chat, :forum_topic, :user, :seq, :in, :message, :began, :due, :weekday, :minute, :until)"
    );
    tx.run(
        &sql,
        params! {
            ":chat": reminder.chat, ":forum_topic": reminder.forum_topic, ":user": reminder.asked_by, ":seq": reminder.seq,
            ":in": reminder.asked_in, ":message": reminder.message, ":began": reminder.began, ":due": reminder.due_at,
            ":weekday": reminder.repeat.and_then(|repeat| repeat.weekday),
            ":minute": reminder.repeat.map(|repeat| repeat.minute), ":until": reminder.until,
        },
    )?;
    Ok(tx.last_insert_rowid())
}

/// Replaces the time and the repetition of a reminder.
pub fn set_time(tx: &Writer<'_>, id: i64, reminder: &Reminder) -> Result<()> {
    tx.run(
        "UPDATE reminder SET due_at = :due, weekday = :weekday, minute = :minute, until_at = :until WHERE id = :id",
        params! {
            ":id": id, ":due": reminder.due_at, ":weekday": reminder.repeat.and_then(|repeat| repeat.weekday),
            ":minute": reminder.repeat.map(|repeat| repeat.minute), ":until": reminder.until,
        },
    )
}

pub fn set_due(tx: &Writer<'_>, id: i64, due_at: Timestamp) -> Result<()> {
    tx.run("UPDATE reminder SET due_at = :due WHERE id = :id", params! { ":due": due_at, ":id": id })
}

pub fn remove(tx: &Writer<'_>, id: i64) -> Result<()> {
    tx.run("DELETE FROM reminder WHERE id = :id", params! { ":id": id })
}

pub fn find(conn: &Reader, id: i64) -> Result<Option<Reminder>> {
    let sql = format!("SELECT {COLUMNS} FROM reminder WHERE id = :id");
    Ok(conn.map_first(&sql, params! { ":id": id }, from_row)?.map(|(_, reminder)| reminder))
}

/// Returns the reminder that a message requested, with its row id.
pub fn of_message(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<Option<(i64, Reminder)>> {
    let sql = format!("SELECT {COLUMNS} FROM reminder WHERE chat_key = :chat AND seq = :seq");
    conn.map_first(&sql, params! { ":chat": chat, ":seq": seq }, from_row)
}

/// Returns the reminders of a chat with their row ids, the next one first.
pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(i64, Reminder)>> {
    let sql = format!("SELECT {COLUMNS} FROM reminder WHERE chat_key = :chat ORDER BY due_at, id");
    conn.map(&sql, params! { ":chat": chat }, from_row)
}

/// Returns the reminders that are due in the chats that the bot is in, with their row ids.
pub fn due(conn: &Reader, now: Timestamp) -> Result<Vec<(i64, Reminder)>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reminder
         WHERE due_at <= :now AND (SELECT is_member FROM chat WHERE chat.chat_key = reminder.chat_key) = 1
         ORDER BY due_at, id"
    );
    conn.map(&sql, params! { ":now": now }, from_row)
}

pub fn count_of(conn: &Reader, user: UserId) -> Result<usize> {
    conn.one("SELECT count(*) FROM reminder WHERE user_id = :user", params! { ":user": user })
}

fn from_row(row: &Columns<'_>) -> Result<(i64, Reminder)> {
    let (weekday, minute): (Option<u8>, Option<u16>) = (row.get("weekday")?, row.get("minute")?);
    let reminder = Reminder {
        chat: row.get("chat_key")?,
        forum_topic: row.get("forum_topic_id")?,
        asked_by: row.get("user_id")?,
        seq: row.get("seq")?,
        asked_in: row.get("telegram_chat_id")?,
        message: row.get("message_id")?,
        began: row.get("began_id")?,
        due_at: row.get("due_at")?,
        repeat: minute.map(|minute| RepeatTime { weekday, minute }),
        until: row.get("until_at")?,
    };
    Ok((row.get("id")?, reminder))
}
