//! Presses on buttons, stored until a job handles them. A row is deleted when its job ends.

use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{Press, Timestamp};

rows! {
    Press { query = "query_id", chat = "telegram_chat_id", message = "message_id", by = "user_id", data }
}

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
    conn.first(
        "SELECT query_id, telegram_chat_id, message_id, user_id, data FROM press WHERE query_id = :query",
        params! { ":query": query },
    )
}

/// Replaces the data of a press, so that a retry of its job does not make the same change again.
pub fn replace_data(tx: &Writer<'_>, query: &str, data: &str) -> Result<()> {
    tx.run("UPDATE press SET data = :data WHERE query_id = :query", params! { ":data": data, ":query": query })
}
