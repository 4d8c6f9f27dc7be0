//! Columns of the message table, and the conversion of a row to a message.

use rusqlite::{OptionalExtension, Params, Row};

use crate::row::Columns;
use crate::{Reader, Result, row};
use chime_core::{
    Borrowed, ChatId, ChatKey, Kind, Message, MessageId, Origin, Role, Sender, Seq, StoredMessage, ThreadId, Timestamp,
    UserId,
};

pub(super) const COLUMNS: &str = "chat_key, seq, telegram_chat_id, message_id, thread_id, user_id, sender_chat_id, sender_name, \
                       sender_username, is_bot, role, ts, edit_ts, kind, kind_detail, text, entities, reply_to_id, \
                       quote_text, context_snapshot, forward_origin, origin_chat_id, origin_message_id, origin_user_id, \
                       origin_ts, media_group_id, via_bot, source";

pub(super) fn limit_param(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) fn one(conn: &Reader, sql: &str, params: impl Params) -> Result<Option<StoredMessage>> {
    conn.prepare_cached(sql)?.query_row(params, |raw| Ok(from_row(raw))).optional()?.transpose()
}

pub(super) fn many(conn: &Reader, sql: &str, params: impl Params) -> Result<Vec<StoredMessage>> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params, |raw| Ok(from_row(raw)))?;
    rows.map(|row| row?).collect()
}

/// Converts a row that has the columns [`COLUMNS`] in this order.
pub(super) fn from_row(raw: &Row<'_>) -> Result<StoredMessage> {
    let columns = Columns::of(raw);
    Ok(StoredMessage {
        chat: ChatKey(row::number(columns.get("chat_key")?, "chat_key")?),
        seq: Seq(row::number(columns.get("seq")?, "seq")?),
        message: Message {
            chat: ChatId(columns.get("telegram_chat_id")?),
            id: MessageId(columns.get("message_id")?),
            thread: columns.get::<Option<i64>>("thread_id")?.map(ThreadId),
            sender: Sender {
                id: UserId(columns.get("user_id")?),
                is_chat: columns.get::<Option<i64>>("sender_chat_id")?.is_some(),
                name: columns.get("sender_name")?,
                username: columns.get("sender_username")?,
                is_bot: columns.get("is_bot")?,
            },
            role: columns.word("role", Role::parse)?,
            sent_at: Timestamp::from_secs(columns.get("ts")?),
            edited_at: columns.get::<Option<i64>>("edit_ts")?.map(Timestamp::from_secs),
            kind: columns.word("kind", Kind::parse)?,
            detail: columns.get("kind_detail")?,
            text: columns.get("text")?,
            entities: match columns.get::<Option<String>>("entities")? {
                Some(json) => row::json(&json, "entities")?,
                None => Vec::new(),
            },
            reply_to: columns.get::<Option<i64>>("reply_to_id")?.map(MessageId),
            quote: columns.get("quote_text")?,
            snapshot: columns.get("context_snapshot")?,
            forward_origin: columns.get("forward_origin")?,
            borrowed: borrowed(&columns)?,
            album: columns.get("media_group_id")?,
            via_bot: columns.get("via_bot")?,
            origin: columns.word("source", Origin::parse)?,
        },
    })
}

/// Reads the four columns about the origin of a quote or forward. Returns `None` if all are empty.
fn borrowed(columns: &Columns<'_>) -> Result<Option<Borrowed>> {
    let found = Borrowed {
        chat: columns.get::<Option<i64>>("origin_chat_id")?.map(ChatId),
        message: columns.get::<Option<i64>>("origin_message_id")?.map(MessageId),
        author: columns.get::<Option<i64>>("origin_user_id")?.map(UserId),
        sent_at: columns.get::<Option<i64>>("origin_ts")?.map(Timestamp::from_secs),
    };
    Ok((found != Borrowed::default()).then_some(found))
}
