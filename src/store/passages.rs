//! Messages as a search reads them: what can be compared with a question, and no more.

use rusqlite::named_params;

use super::messages::{VISIBLE, row_id};
use super::row::Columns;
use super::{Reader, Result};
use crate::domain::{ChatKey, MessageId, Seq, ThreadId, Timestamp, UserId, unpack};

/// A message without what only shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPassage {
    pub seq: Seq,
    pub id: MessageId,
    pub thread: Option<ThreadId>,
    pub author: UserId,
    /// Written by the bot itself.
    pub is_own: bool,
    pub sent_at: Timestamp,
    pub reply_to: Option<MessageId>,
    pub text: String,
    /// Of the space that was asked for; empty where there is none.
    pub vector: Vec<f32>,
}

/// The messages of a chat, of all its threads, with these numbers, both included, in the order of the numbers, each with its
/// vector of `space`.
pub fn in_range(
    conn: &Reader,
    space: Option<i64>,
    chat: ChatKey,
    (from, to): (Seq, Seq),
) -> Result<Vec<StoredPassage>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT seq, message_id, thread_id, user_id, role = 'assistant' AS is_own, ts, reply_to_id, text,
                (SELECT vector FROM message_vector WHERE message_vector.id = message.id AND space = :space) AS vector
         FROM message WHERE id BETWEEN :from AND :to AND {VISIBLE} AND role <> 'system' ORDER BY id"
    ))?;
    let params = named_params! { ":space": space, ":from": row_id(chat, from), ":to": row_id(chat, to) };
    let rows = statement.query_map(params, |raw| {
        let columns = Columns::of(raw);
        Ok(StoredPassage {
            seq: Seq(columns.get("seq")?),
            id: MessageId(columns.get("message_id")?),
            thread: columns.get::<Option<i64>>("thread_id")?.map(ThreadId),
            author: UserId(columns.get("user_id")?),
            is_own: columns.get("is_own")?,
            sent_at: Timestamp::from_secs(columns.get("ts")?),
            reply_to: columns.get::<Option<i64>>("reply_to_id")?.map(MessageId),
            text: columns.get("text")?,
            vector: columns.get::<Option<Vec<u8>>>("vector")?.map_or_else(Vec::new, |packed| unpack(&packed)),
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
