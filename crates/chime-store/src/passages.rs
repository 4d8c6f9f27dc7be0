//! Reading of messages for searches: only the columns that a search needs.

use super::messages::VISIBLE;
use super::row::row_id;
use super::sql::{Columns, Statements, params};
use super::{Reader, Result};
use chime_core::{
    ChatKey, Conversation, Entity, ForumTopicId, Kind, MessageId, Seq, Timestamp, UserId, hidden_links, with_links,
};

/// Message with only the data that a search needs.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPassage {
    pub seq: Seq,
    pub id: MessageId,
    pub forum_topic: Option<ForumTopicId>,
    pub author: UserId,
    pub is_own: bool,
    pub sent_at: Timestamp,
    pub reply_to: Option<MessageId>,
    pub kind: Kind,
    /// Text, with the addresses behind linked words.
    pub text: String,
    /// Vector in the requested space; empty if there is none or none was requested.
    pub vector: Vec<f32>,
}

/// Returns the messages of a chat, in all forum topics, whose numbers are in `from..=to`, sorted by number. Each has
/// its vector in `space`. Without stubs and messages of members who opted out.
pub fn in_range(conn: &Reader, space: Option<i64>, chat: ChatKey, from: Seq, to: Seq) -> Result<Vec<StoredPassage>> {
    conn.map(&format!(
        "SELECT {COLUMNS}, (SELECT vector FROM message_vector WHERE message_vector.id = message.id AND space = :space) AS vector
         FROM message WHERE id BETWEEN :from AND :to AND {VISIBLE} AND role <> 'system' ORDER BY id"
    ), params! { ":space": space, ":from": row_id(chat, from), ":to": row_id(chat, to) }, |row| {
        let passage = from_columns(row)?;
        Ok(StoredPassage { vector: row.get::<Option<_>>("vector")?.unwrap_or_default(), ..passage })
    })
}

/// Filter for messages of members that are older than a given message.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub chat: ChatKey,
    /// Conversation to search; `None` for all forum topics of the chat.
    pub conversation: Option<Conversation>,
    pub before: Seq,
    /// Time range of the messages: start included, end excluded.
    pub within: Option<(Timestamp, Timestamp)>,
    pub by: Option<UserId>,
}

/// Returns the newest messages that match the filter, newest first, at most `limit`. They have no vectors.
pub fn newest(conn: &Reader, wanted: &Wanted, limit: u32) -> Result<Vec<StoredPassage>> {
    let by = if wanted.by.is_some() { "user_id = :by AND" } else { ":by IS NULL AND" };
    let forum_topic =
        if wanted.conversation.is_some() { "forum_topic_id IS :forum_topic AND" } else { ":forum_topic IS NULL AND" };
    let sql = format!(
        "SELECT {COLUMNS} FROM message
         WHERE {by} chat_key = :chat AND {forum_topic} ts >= :from AND ts < :until AND seq < :before AND {VISIBLE} AND role = 'user'
         ORDER BY ts DESC LIMIT :limit");
    let (from, until) = wanted.within.map_or((i64::MIN, i64::MAX), |(from, until)| (from.secs(), until.secs()));
    let params = params! {
        ":by": wanted.by, ":chat": wanted.chat, ":from": from, ":until": until,
        ":before": wanted.before, ":limit": limit,
        ":forum_topic": wanted.conversation.and_then(|one| one.forum_topic),
    };
    conn.map(&sql, params, from_columns)
}

const COLUMNS: &str = "seq, message_id, forum_topic_id, user_id, role = 'assistant' AS is_own, ts, reply_to_id, kind, text, \
                       CASE WHEN instr(entities, '\"text_link\"') AND role = 'user' THEN entities END AS links";

/// Converts a row with the columns [`COLUMNS`]. The vector stays empty.
fn from_columns(columns: &Columns<'_>) -> Result<StoredPassage> {
    Ok(StoredPassage {
        seq: columns.get("seq")?,
        id: columns.get("message_id")?,
        forum_topic: columns.get("forum_topic_id")?,
        author: columns.get("user_id")?,
        is_own: columns.get("is_own")?,
        sent_at: Timestamp::from_secs(columns.get("ts")?),
        reply_to: columns.get("reply_to_id")?,
        kind: columns.get("kind")?,
        text: {
            let text: String = columns.get("text")?;
            let entities: Option<String> = columns.get("links")?;
            let entities: Vec<Entity> = entities.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
            with_links(&text, hidden_links(&text, &entities)).into_owned()
        },
        vector: Vec::new(),
    })
}
