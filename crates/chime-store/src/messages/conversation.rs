//! Messages of a conversation around a point in time, without service messages, stubs and messages of members who opted
//! out.

use super::rows::COLUMNS;
use super::{VISIBLE, row_id};
use crate::sql::{Statements, params};
use crate::{Reader, Result};
use chime_core::{ChatKey, Conversation, MessageId, Seq, StoredMessage, Timestamp, UserId};

/// Returns the newest `limit` messages of the conversation before `moment`, oldest first.
pub fn before(
    conn: &Reader,
    conversation: Conversation,
    moment: (Timestamp, MessageId),
    limit: usize,
) -> Result<Vec<StoredMessage>> {
    let mut found = conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (ts, message_id) < (:ts, :id)
                   AND {VISIBLE} AND role <> 'system'
             ORDER BY ts DESC, message_id DESC LIMIT :limit"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic,
            ":ts": moment.0.secs(), ":id": moment.1, ":limit": limit,
        },
    )?;
    found.reverse();
    Ok(found)
}

/// Returns the messages of the conversation whose numbers are in `from..=to`, sorted by number.
pub fn between(conn: &Reader, conversation: Conversation, from: Seq, to: Seq) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE id BETWEEN :from AND :to AND forum_topic_id IS :forum_topic AND {VISIBLE} AND role <> 'system' ORDER BY id"
        ),
        params! {
            ":from": row_id(conversation.chat, from), ":to": row_id(conversation.chat, to),
            ":forum_topic": conversation.forum_topic,
        },
    )
}

/// Returns the numbers of the bot's answers from `since` to `until` whose text is not kept, such as an answer to a member
/// who opted out.
pub fn withheld_answers(
    conn: &Reader,
    conversation: Conversation,
    since: Timestamp,
    until: Timestamp,
) -> Result<Vec<Seq>> {
    conn.all(
        "SELECT seq FROM message
         WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND ts BETWEEN :since AND :until
               AND is_stub = 1 AND role = 'assistant'",
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic,
            ":since": since.secs(), ":until": until.secs(),
        },
    )
}

/// Returns the newest messages of a chat, from all its forum topics, that were sent in `from..until`: newest first, at
/// most `limit`.
pub fn newest_between(
    conn: &Reader,
    chat: ChatKey,
    from: Timestamp,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE id BETWEEN :first AND :last AND ts >= :from AND ts < :until AND {VISIBLE} AND role <> 'system'
             ORDER BY id DESC LIMIT :limit"
        ),
        params! {
            ":first": row_id(chat, Seq(0)), ":last": row_id(chat, Seq(u32::MAX)),
            ":from": from.secs(), ":until": until.secs(), ":limit": limit,
        },
    )
}

/// Returns the first `limit` messages of the conversation after `moment`, oldest first.
pub fn after(
    conn: &Reader,
    conversation: Conversation,
    moment: (Timestamp, MessageId),
    limit: usize,
) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic AND (ts, message_id) > (:ts, :id)
                   AND {VISIBLE} AND role <> 'system'
             ORDER BY ts, message_id LIMIT :limit"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic,
            ":ts": moment.0.secs(), ":id": moment.1, ":limit": limit,
        },
    )
}

/// Returns the messages of the conversation from `first` to `last`, both included, oldest first.
pub fn within(
    conn: &Reader,
    conversation: Conversation,
    first: (Timestamp, MessageId),
    last: (Timestamp, MessageId),
) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE chat_key = :chat AND forum_topic_id IS :forum_topic
                   AND (ts, message_id) >= (:from, :first) AND (ts, message_id) <= (:to, :last)
                   AND {VISIBLE} AND role <> 'system'
             ORDER BY ts, message_id"
        ),
        params! {
            ":chat": conversation.chat, ":forum_topic": conversation.forum_topic,
            ":from": first.0.secs(), ":first": first.1, ":to": last.0.secs(), ":last": last.1,
        },
    )
}

pub fn newest_of(conn: &Reader, chat: ChatKey, user: UserId) -> Result<Option<Seq>> {
    conn.first(
        "SELECT seq FROM message WHERE chat_key = :chat AND user_id = :user ORDER BY ts DESC LIMIT 1",
        params! { ":chat": chat, ":user": user },
    )
}

/// Returns the times and texts of a member's messages in a chat up to `until`, newest first, at most `limit`. Includes
/// commands, stubs and service messages.
pub fn written_by(
    conn: &Reader,
    chat: ChatKey,
    user: UserId,
    until: Timestamp,
    limit: usize,
) -> Result<Vec<(Timestamp, String)>> {
    conn.map(
        "SELECT ts, text FROM message WHERE chat_key = :chat AND user_id = :user AND ts <= :until
         ORDER BY ts DESC LIMIT :limit",
        params! {
            ":chat": chat, ":user": user, ":until": until.secs(), ":limit": limit,
        },
        |raw| Ok((Timestamp::from_secs(raw.get("ts")?), raw.get("text")?)),
    )
}

/// Returns the messages of a chat with numbers above `after`, sorted by number, at most `limit`. Includes service
/// messages, but no stubs and no messages of members who opted out.
pub fn page(conn: &Reader, chat: ChatKey, after: Seq, limit: usize) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message WHERE id > :after AND id <= :last AND {VISIBLE} ORDER BY id LIMIT :limit"
        ),
        params! {
            ":after": row_id(chat, after), ":last": row_id(chat, Seq(u32::MAX)), ":limit": limit,
        },
    )
}

/// Returns the newest messages of a chat with numbers below `before`, sorted by number, at most `limit`, like [`page`].
pub fn page_before(conn: &Reader, chat: ChatKey, before: Seq, limit: usize) -> Result<Vec<StoredMessage>> {
    let mut found = conn.all(&format!(
            "SELECT {COLUMNS} FROM message WHERE id >= :first AND id < :before AND {VISIBLE} ORDER BY id DESC LIMIT :limit"
        ),
        params! {
            ":first": row_id(chat, Seq(0)), ":before": row_id(chat, before), ":limit": limit,
        },
    )?;
    found.reverse();
    Ok(found)
}
