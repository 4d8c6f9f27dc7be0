//! Subscriptions of chats to regular recaps. They contain no text, because a recap is only written when it is due.

use super::family::Family;
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, ForumTopicId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subscription {
    pub chat: ChatKey,
    /// Forum topic in which the recap is posted; `None` for a chat without topics.
    pub forum_topic: Option<ForumTopicId>,
    /// Day of the week, 0 for Monday; `None` for every day.
    pub weekday: Option<u8>,
    /// Minutes since midnight in the chat's time zone.
    pub minute: u16,
    /// Time up to which the last recap covers the messages. The next one begins there.
    pub since: Timestamp,
}

const COLUMNS: &str = "chat_key, forum_topic_id, weekday, minute, since_at";

pub(super) const FAMILY: Family = Family {
    tables: &["recap_subscription"],
    moved: &[("recap_subscription", None)],
    chat_gone: |tx, chat, _| remove(tx, chat).map(drop),
    ..Family::UNTOUCHED
};

rows! {
    Subscription { chat = "chat_key", forum_topic = "forum_topic_id", weekday, minute, since = "since_at" }
}

/// Subscribes a chat. An earlier subscription of the chat is replaced.
pub fn set(tx: &Writer<'_>, subscription: &Subscription) -> Result<()> {
    tx.run(
        "INSERT OR REPLACE INTO recap_subscription (chat_key, forum_topic_id, weekday, minute, since_at)
         VALUES (:chat, :forum_topic, :weekday, :minute, :since)",
        params! {
            ":chat": subscription.chat, ":forum_topic": subscription.forum_topic, ":weekday": subscription.weekday,
            ":minute": subscription.minute, ":since": subscription.since,
        },
    )
}

/// Deletes the subscription of a chat. Returns `false` if it had none.
pub fn remove(tx: &Writer<'_>, chat: ChatKey) -> Result<bool> {
    let removed = tx.changed("DELETE FROM recap_subscription WHERE chat_key = :chat", params! { ":chat": chat })?;
    Ok(removed > 0)
}

/// Records that messages up to `until` are covered by a recap that was posted or whose job is stored.
pub fn advance(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE recap_subscription SET since_at = :until WHERE chat_key = :chat",
        params! { ":until": until, ":chat": chat },
    )
}

pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Option<Subscription>> {
    let sql = format!("SELECT {COLUMNS} FROM recap_subscription WHERE chat_key = :chat");
    conn.first(&sql, params! { ":chat": chat })
}

pub fn all(conn: &Reader) -> Result<Vec<Subscription>> {
    conn.all(&format!("SELECT {COLUMNS} FROM recap_subscription ORDER BY chat_key"), &[])
}
