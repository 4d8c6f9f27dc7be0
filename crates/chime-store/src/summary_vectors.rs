//! Vectors of mini-summaries. They are stored in a plain table, from which their index can be rebuilt.

use rusqlite::named_params;

use super::sessions::{self, key};
use super::{Reader, Result, Writer, embedding_spaces};
use chime_core::{ChatKey, SessionId, Timestamp, pack, unpack};

/// Stores the vector that `model` made for the summary of a session, and returns `true`. Returns `false` and stores
/// nothing if the summary with time `built_at` was replaced, or if all values are zero. An empty vector is stored but
/// also returns `false`: it records that the model cannot represent this text.
pub fn save(tx: &Writer<'_>, session: SessionId, built_at: Timestamp, model: &str, vector: &[f32]) -> Result<bool> {
    let (space, packed) = match pack(vector) {
        Some(packed) => (embedding_spaces::ensure(tx, model, vector.len())?, packed),
        None => match embedding_spaces::of_model(tx, model)? {
            Some(space) if vector.is_empty() => (space, Vec::new()),
            _ => return Ok(false),
        },
    };
    let params = named_params! { ":id": key(session), ":built_at": built_at.millis() };
    let is_present = tx
        .prepare_cached("SELECT 1 FROM mini_summary WHERE session_id = :id AND built_at = :built_at")?
        .exists(params)?;
    if !is_present {
        return Ok(false);
    }
    tx.prepare_cached("DELETE FROM summary_vector WHERE session_id = :id AND space = :space")?
        .execute(named_params! { ":id": key(session), ":space": space.id })?;
    tx.prepare_cached("INSERT INTO summary_vector (session_id, space, vector) VALUES (:id, :space, :vector)")?
        .execute(named_params! { ":id": key(session), ":space": space.id, ":vector": packed })?;
    Ok(!vector.is_empty())
}

pub fn of_chat(conn: &Reader, chat: ChatKey, model: &str) -> Result<Vec<(SessionId, Vec<f32>)>> {
    let mut statement = conn.prepare_cached(
        "SELECT session_id, vector FROM summary_vector JOIN vector_space ON vector_space.id = space
         WHERE session_id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND model = :model
               AND length(vector) > 0",
    )?;
    let rows = statement.query_map(named_params! { ":chat": chat.0, ":model": model }, |raw| {
        Ok((raw.get("session_id")?, raw.get::<_, Vec<u8>>("vector")?))
    })?;
    rows.map(|row| {
        let (id, bytes): (i64, Vec<u8>) = row?;
        Ok((sessions::id_of(id)?, unpack(&bytes)))
    })
    .collect()
}

/// Returns `true` if a space of `model` has as many vectors as there are summaries. Counting is faster than looking for
/// summaries without a vector.
fn has_all(conn: &Reader, model: &str) -> Result<bool> {
    let mut statement = conn.prepare_cached(
        "SELECT 1 FROM vector_space WHERE model = :model
             AND (SELECT count(*) FROM summary_vector WHERE space = vector_space.id)
                 = (SELECT count(*) FROM mini_summary)",
    )?;
    Ok(statement.exists(named_params! { ":model": model })?)
}

/// Returns the sessions whose summary has no vector of `model`, those with the newest summaries first, at most `limit`.
pub fn missing(conn: &Reader, model: &str, limit: u32) -> Result<Vec<SessionId>> {
    if has_all(conn, model)? {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(
        "SELECT session_id FROM mini_summary
         WHERE NOT EXISTS (SELECT 1 FROM summary_vector JOIN vector_space ON vector_space.id = space
                           WHERE summary_vector.session_id = mini_summary.session_id AND model = :model)
         ORDER BY built_at DESC LIMIT :limit",
    )?;
    let keys = statement.query_map(named_params! { ":model": model, ":limit": limit }, |raw| raw.get("session_id"))?;
    keys.map(|id| sessions::id_of(id?)).collect()
}
