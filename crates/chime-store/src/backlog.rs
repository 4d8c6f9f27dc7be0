//! Triggers that arrived too late to be answered. They are counted per chat until a message in the chat reports their
//! number.

use rusqlite::{OptionalExtension, named_params};

use super::family::Family;
use super::{Reader, Result, Writer, jobs};
use chime_core::{ChatId, ChatKey, JobPayload, ThreadId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    pub thread: Option<ThreadId>,
    pub count: u64,
}

pub(super) const FAMILY: Family = Family { tables: &["backlog"], chat_gone, ..Family::UNTOUCHED };

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM backlog
         WHERE telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat)",
    )?
    .execute(named_params! { ":chat": chat.0 })?;
    Ok(())
}

/// Counts a trigger that arrived too late, and schedules the message about it at `due_at`. If it is scheduled already,
/// it is moved to `due_at`.
pub fn count_one(tx: &Writer<'_>, chat: ChatId, thread: Option<ThreadId>, due_at: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO backlog (telegram_chat_id, thread_id, skipped) VALUES (:chat, :thread, 1)
         ON CONFLICT (telegram_chat_id) DO UPDATE
         SET skipped = skipped + 1, thread_id = excluded.thread_id",
    )?
    .execute(named_params! { ":chat": chat.0, ":thread": thread.map(|id| id.0) })?;
    jobs::add_or_move(tx, &JobPayload::Backlog { chat }, due_at)
}

pub fn find(conn: &Reader, chat: ChatId) -> Result<Option<Skipped>> {
    Ok(conn
        .prepare_cached("SELECT thread_id, skipped FROM backlog WHERE telegram_chat_id = :chat")?
        .query_row(named_params! { ":chat": chat.0 }, |raw| {
            Ok(Skipped { thread: raw.get::<_, Option<i64>>("thread_id")?.map(ThreadId), count: raw.get("skipped")? })
        })
        .optional()?)
}

pub fn clear(tx: &Writer<'_>, chat: ChatId) -> Result<()> {
    tx.prepare_cached("DELETE FROM backlog WHERE telegram_chat_id = :chat")?
        .execute(named_params! { ":chat": chat.0 })?;
    Ok(())
}
