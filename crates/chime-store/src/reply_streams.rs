//! Messages that show a reply while it is still being written. The table contains no text.

use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatId, MessageId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyStream {
    pub chat: ChatId,
    /// Id of the message. `None` if the process ended while sending it, so that it is unknown if Telegram received it.
    pub message: Option<MessageId>,
}

rows! {
    ReplyStream { chat = "telegram_chat_id", message = "message_id" }
}

/// Records that the first part of a reply is about to be sent, before its message id is known.
pub fn open(tx: &Writer<'_>, reply: &str, chat: ChatId, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO reply_stream (reply_key, telegram_chat_id, opened_at) VALUES (:key, :chat, :now)
         ON CONFLICT (reply_key) DO NOTHING",
        params! { ":key": reply, ":chat": chat, ":now": now },
    )
}

pub fn set_message(tx: &Writer<'_>, reply: &str, message: MessageId) -> Result<()> {
    tx.run(
        "UPDATE reply_stream SET message_id = :message WHERE reply_key = :key",
        params! { ":key": reply, ":message": message },
    )
}

pub fn find(conn: &Reader, reply: &str) -> Result<Option<ReplyStream>> {
    conn.first(
        "SELECT telegram_chat_id, message_id FROM reply_stream WHERE reply_key = :key",
        params! { ":key": reply },
    )
}

/// Deletes the record of a reply that is complete or was given up.
pub fn close(tx: &Writer<'_>, reply: &str) -> Result<()> {
    tx.run("DELETE FROM reply_stream WHERE reply_key = :key", params! { ":key": reply })
}
