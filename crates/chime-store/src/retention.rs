//! Queries and deletions for the retention periods: of messages, chats, names, replies and token counts.

use std::time::Duration;

use super::sql::{Statements, params};
use super::{Reader, Result, Writer, derived};
use chime_core::config::retention;
use chime_core::{ChatKey, Seq, Timestamp};

/// Returns the chats whose messages expire, each with a cutoff: messages before it must be deleted. `default` is the
/// cutoff for chats without a setting of their own; `None` if their messages never expire. `copies` is as in [`cutoff`].
pub fn cutoffs(
    conn: &Reader,
    now: Timestamp,
    default: Option<Timestamp>,
    copies: Duration,
) -> Result<Vec<(ChatKey, Timestamp)>> {
    let rows: Vec<(ChatKey, Option<usize>)> =
        conn.all("SELECT chat_key, retention_days FROM chat ORDER BY chat_key", &[])?;
    let of_chat = |days: Option<usize>| match days {
        None => default,
        Some(days) => retention(days).map(|span| cutoff(now, span, copies)),
    };
    Ok(rows.into_iter().filter_map(|(chat, days)| Some((chat, of_chat(days)?))).collect())
}

/// Returns the time before which messages that may be kept for `span` are deleted. They are deleted sooner than after
/// `span`, by the longest age of a daily copy, `copies`, so that no copy holds them for longer, but by a tenth of the
/// span at most.
pub fn cutoff(now: Timestamp, span: Duration, copies: Duration) -> Timestamp {
    now.minus(span - copies.min(span / 10))
}

/// Returns the oldest messages of a chat that were sent before `cutoff`, at most `limit`.
pub fn expired(conn: &Reader, chat: ChatKey, cutoff: Timestamp, limit: u32) -> Result<Vec<(ChatKey, Seq)>> {
    conn.all(
        "SELECT chat_key, seq FROM message WHERE chat_key = :chat AND ts < :cutoff ORDER BY ts LIMIT :limit",
        params! { ":chat": chat, ":cutoff": cutoff.secs(), ":limit": limit },
    )
}

/// Returns the chats that the bot was removed from before `cutoff` and that still have a title, messages or members.
pub fn abandoned(conn: &Reader, cutoff: Timestamp) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT chat_key FROM chat WHERE removed_at < :cutoff
         AND (title IS NOT NULL OR EXISTS (SELECT 1 FROM message WHERE message.chat_key = chat.chat_key)
              OR EXISTS (SELECT 1 FROM member WHERE member.chat_key = chat.chat_key))",
        params! { ":cutoff": cutoff },
    )
}

/// Clears the names of members who have no stored messages. The rows stay, because they show that these members may
/// write to the bot in private. Returns the number of names.
pub fn prune_names(tx: &Writer<'_>, chat: ChatKey) -> Result<usize> {
    tx.changed(
        "UPDATE member SET name = '', username = NULL WHERE chat_key = :chat AND name <> ''
         AND NOT EXISTS (SELECT 1 FROM message
                         WHERE message.chat_key = member.chat_key AND message.user_id = member.user_id)",
        params! { ":chat": chat },
    )
}

/// Deletes the names of forum topics that have no stored messages. Returns their number.
pub fn prune_topic_names(tx: &Writer<'_>, chat: ChatKey) -> Result<usize> {
    tx.changed(
        "DELETE FROM topic_name WHERE chat_key = :chat
         AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat_key = topic_name.chat_key
                             AND message.forum_topic_id = topic_name.forum_topic_id)",
        params! { ":chat": chat },
    )
}

/// Deletes sent or failed replies older than `before` that belong to no stored answer, such as command output and
/// notices. At most `limit`; returns their number.
pub fn prune_replies(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM outbox WHERE id IN
         (SELECT id FROM outbox WHERE created_at < :before AND answer_id IS NULL
              AND state IN ('sent', 'failed') ORDER BY id LIMIT :limit)",
        params! { ":before": before, ":limit": limit },
    )
}

/// Returns the time of the newest message. By Telegram's clock, the current time is at least this.
pub fn newest(conn: &Reader) -> Result<Option<Timestamp>> {
    conn.one(
        "SELECT max(newest) * 1000 AS newest FROM
         (SELECT (SELECT max(ts) FROM message WHERE message.chat_key = chat.chat_key) AS newest FROM chat)",
        &[],
    )
}

/// Deletes token counts of days before the day of `before`, at most `limit` rows. Returns their number.
pub fn prune_usage(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM token_usage WHERE (day, chat_key, user_id) IN
         (SELECT day, chat_key, user_id FROM token_usage WHERE day < :day LIMIT :limit)",
        params! { ":day": before.day(), ":limit": limit },
    )
}

/// Returns chats that can be deleted: groups that the bot was removed from before `cutoff`, and private chats, if they
/// have no messages, answers, settings, opt-outs or open requests.
pub fn empty_chats(conn: &Reader, cutoff: Timestamp) -> Result<Vec<ChatKey>> {
    conn.all(
        "SELECT chat_key FROM chat WHERE (removed_at < :cutoff OR kind = 'private') AND retention_days IS NULL
         AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat_key = chat.chat_key)
         AND (kind = 'private' OR NOT EXISTS (SELECT 1 FROM member WHERE member.chat_key = chat.chat_key))
         AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.chat_key = chat.chat_key)
         AND NOT EXISTS (SELECT 1 FROM opt_out WHERE opt_out.chat_key = chat.chat_key)
         AND NOT EXISTS (SELECT 1 FROM allowed_chat WHERE allowed_chat.chat_key = chat.chat_key)
         AND NOT EXISTS (SELECT 1 FROM deletion WHERE deletion.chat_key = chat.chat_key)
         AND NOT EXISTS (SELECT 1 FROM token_usage WHERE token_usage.chat_key = chat.chat_key)
         AND forgotten_until IS NULL",
        params! { ":cutoff": cutoff },
    )
}

/// Deletes a chat and returns 1. If the chat has messages again, deletes nothing and returns 0.
pub fn remove_chat(tx: &Writer<'_>, chat: ChatKey, now: Timestamp) -> Result<usize> {
    let is_empty = !tx.any("SELECT 1 FROM message WHERE chat_key = :chat", params! { ":chat": chat })?;
    if !is_empty {
        return Ok(0);
    }
    derived::chat_gone(tx, chat, now)?;
    tx.run("DELETE FROM chat_alias WHERE chat_key = :chat", params! { ":chat": chat })?;
    tx.changed("DELETE FROM chat WHERE chat_key = :chat", params! { ":chat": chat })
}
