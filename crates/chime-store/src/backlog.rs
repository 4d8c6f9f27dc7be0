//! Triggers that arrived too late to be answered. They are counted per chat until a message in the chat reports their
//! number.

use super::family::Family;
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer, jobs};
use chime_core::{ChatId, ChatKey, ForumTopicId, JobPayload, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    pub forum_topic: Option<ForumTopicId>,
    pub count: u64,
}

pub(super) const FAMILY: Family = Family { tables: &["backlog"], chat_gone, ..Family::UNTOUCHED };

rows! {
    Skipped { forum_topic = "forum_topic_id", count = "skipped" }
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.run(
        "DELETE FROM backlog
         WHERE telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat)",
        params! { ":chat": chat },
    )
}

/// Counts a trigger that arrived too late, and schedules the message about it at `due_at`. If it is scheduled already,
/// it is moved to `due_at`.
pub fn count_one(tx: &Writer<'_>, chat: ChatId, forum_topic: Option<ForumTopicId>, due_at: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO backlog (telegram_chat_id, forum_topic_id, skipped) VALUES (:chat, :forum_topic, 1)
         ON CONFLICT (telegram_chat_id) DO UPDATE
         SET skipped = skipped + 1, forum_topic_id = excluded.forum_topic_id",
        params! { ":chat": chat, ":forum_topic": forum_topic },
    )?;
    jobs::add_or_move(tx, &JobPayload::Backlog { chat }, due_at)
}

pub fn find(conn: &Reader, chat: ChatId) -> Result<Option<Skipped>> {
    conn.first("SELECT forum_topic_id, skipped FROM backlog WHERE telegram_chat_id = :chat", params! { ":chat": chat })
}

pub fn clear(tx: &Writer<'_>, chat: ChatId) -> Result<()> {
    tx.run("DELETE FROM backlog WHERE telegram_chat_id = :chat", params! { ":chat": chat })
}
