//! Presses on buttons, stored until a job handles them. A row is deleted when its job ends.

use rusqlite::{OptionalExtension, named_params};

use super::{Reader, Result, Writer};
use chime_core::{ChatId, MessageId, Press, Timestamp, UserId};

/// Stores a press. Does nothing if it is stored already.
pub fn add(tx: &Writer<'_>, press: &Press, now: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO press (query_id, telegram_chat_id, message_id, user_id, data, pressed_at)
         VALUES (:query, :chat, :message, :by, :data, :now) ON CONFLICT (query_id) DO NOTHING",
    )?
    .execute(named_params! {
        ":query": press.query, ":chat": press.chat.0, ":message": press.message.0, ":by": press.by.0,
        ":data": press.data, ":now": now.millis(),
    })?;
    Ok(())
}

pub fn find(conn: &Reader, query: &str) -> Result<Option<Press>> {
    let found = conn
        .prepare_cached("SELECT telegram_chat_id, message_id, user_id, data FROM press WHERE query_id = :query")?
        .query_row(named_params! { ":query": query }, |raw| {
            Ok(Press {
                query: query.to_owned(),
                chat: ChatId(raw.get("telegram_chat_id")?),
                message: MessageId(raw.get("message_id")?),
                by: UserId(raw.get("user_id")?),
                data: raw.get("data")?,
            })
        })
        .optional()?;
    Ok(found)
}

/// Replaces the data of a press, so that a retry of its job does not make the same change again.
pub fn ask_for(tx: &Writer<'_>, query: &str, data: &str) -> Result<()> {
    tx.prepare_cached("UPDATE press SET data = :data WHERE query_id = :query")?
        .execute(named_params! { ":data": data, ":query": query })?;
    Ok(())
}
