//! Triggers that were too old when they came in: counted per chat until one line has told so.

use rusqlite::{OptionalExtension, named_params};

use super::{Reader, Result, Writer};
use crate::domain::{ChatId, ThreadId};

/// What is to be told in one chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    pub thread: Option<ThreadId>,
    pub count: u64,
}

pub fn count_one(tx: &Writer<'_>, chat: ChatId, thread: Option<ThreadId>) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO backlog (telegram_chat_id, thread_id, skipped) VALUES (:chat, :thread, 1)
         ON CONFLICT (telegram_chat_id) DO UPDATE
         SET skipped = skipped + 1, thread_id = excluded.thread_id",
    )?
    .execute(named_params! { ":chat": chat.0, ":thread": thread.map(|id| id.0) })?;
    Ok(())
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
