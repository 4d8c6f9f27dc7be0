//! Messages that show a reply while it is still being written. The table contains no text.

use rusqlite::{OptionalExtension, named_params};

use super::{Reader, Result, Writer};
use chime_core::{ChatId, MessageId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyStream {
    pub chat: ChatId,
    /// Id of the message. `None` if the process ended while sending it, so that it is unknown if Telegram received it.
    pub message: Option<MessageId>,
}

/// Records that the first part of a reply is about to be sent, before its message id is known.
pub fn open(tx: &Writer<'_>, reply: &str, chat: ChatId, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO reply_stream (reply_key, telegram_chat_id, opened_at) VALUES (:key, :chat, :now)
         ON CONFLICT (reply_key) DO NOTHING",
    )?
    .execute(named_params! { ":key": reply, ":chat": chat.0, ":now": now.millis() })?;
    Ok(())
}

pub fn set_message(tx: &Writer<'_>, reply: &str, message: MessageId) -> Result<()> {
    tx.prepare_cached("UPDATE reply_stream SET message_id = :message WHERE reply_key = :key")?
        .execute(named_params! { ":key": reply, ":message": message.0 })?;
    Ok(())
}

pub fn find(conn: &Reader, reply: &str) -> Result<Option<ReplyStream>> {
    let found = conn
        .prepare_cached("SELECT telegram_chat_id, message_id FROM reply_stream WHERE reply_key = :key")?
        .query_row(named_params! { ":key": reply }, |raw| {
            Ok(ReplyStream {
                chat: ChatId(raw.get("telegram_chat_id")?),
                message: raw.get::<_, Option<i64>>("message_id")?.map(MessageId),
            })
        })
        .optional()?;
    Ok(found)
}

/// Deletes the record of a reply that is complete or was given up.
pub fn close(tx: &Writer<'_>, reply: &str) -> Result<()> {
    tx.prepare_cached("DELETE FROM reply_stream WHERE reply_key = :key")?.execute(named_params! { ":key": reply })?;
    Ok(())
}
