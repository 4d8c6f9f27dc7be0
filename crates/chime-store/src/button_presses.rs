//! Presses on buttons, stored until a job handles them. A row is deleted when its job ends.

use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{Press, Timestamp};

/// Stores a press. Does nothing if it is stored already.
pub fn add(tx: &Writer<'_>, press: &Press, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO press (query_id, telegram_chat_id, message_id, user_id, data, pressed_at)
         VALUES (:query, :chat, :message, :by, :data, :now) ON CONFLICT (query_id) DO NOTHING",
        params! {
            ":query": press.query, ":chat": press.chat, ":message": press.message, ":by": press.by,
            ":data": press.data, ":now": now,
        },
    )
}

pub fn find(conn: &Reader, query: &str) -> Result<Option<Press>> {
    conn.map_first(
        "SELECT telegram_chat_id, message_id, user_id, data FROM press WHERE query_id = :query",
        params! { ":query": query },
        |raw| {
            Ok(Press {
                query: query.to_owned(),
                chat: raw.get("telegram_chat_id")?,
                message: raw.get("message_id")?,
                by: raw.get("user_id")?,
                data: raw.get("data")?,
            })
        },
    )
}

/// Replaces the data of a press, so that a retry of its job does not make the same change again.
pub fn ask_for(tx: &Writer<'_>, query: &str, data: &str) -> Result<()> {
    tx.run("UPDATE press SET data = :data WHERE query_id = :query", params! { ":data": data, ":query": query })
}
