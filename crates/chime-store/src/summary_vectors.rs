//! Vectors of mini-summaries. They are stored in a plain table, from which their index can be rebuilt.

use super::sql::{Statements, params};
use super::{Reader, Result, Writer, embedding_spaces};
use chime_core::{ChatKey, SessionId, Timestamp, pack};

/// Stores the vector that `model` made for the summary of a session, and returns `true`. Stores nothing and returns
/// `false` if the summary with time `built_at` was replaced, if all values are zero, or while vectors of another model
/// are stored. An empty vector is stored, to record that the model cannot represent this text, but the result is also
/// `false`.
pub fn save(tx: &Writer<'_>, session: SessionId, built_at: Timestamp, model: &str, vector: &[f32]) -> Result<bool> {
    let packed = match pack(vector) {
        Some(packed) if embedding_spaces::admits(tx, model, vector.len())? => packed,
        None if vector.is_empty() && embedding_spaces::current(tx)?.is_some_and(|space| space.model == model) => {
            Vec::new()
        }
        _ => return Ok(false),
    };
    let params = params! { ":id": session, ":built_at": built_at };
    let is_present = tx.any("SELECT 1 FROM mini_summary WHERE session_id = :id AND built_at = :built_at", params)?;
    if !is_present {
        return Ok(false);
    }
    tx.run("DELETE FROM summary_vector WHERE session_id = :id", params! { ":id": session })?;
    tx.run(
        "INSERT INTO summary_vector (session_id, vector) VALUES (:id, :vector)",
        params! { ":id": session, ":vector": packed },
    )?;
    Ok(!vector.is_empty())
}

pub fn of_chat(conn: &Reader, chat: ChatKey, model: &str) -> Result<Vec<(SessionId, Vec<f32>)>> {
    conn.all(
        "SELECT session_id, vector FROM summary_vector JOIN vector_space ON model = :model
         WHERE session_id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND length(vector) > 0",
        params! { ":chat": chat, ":model": model },
    )
}

/// Returns the sessions whose summary has no vector, those with the newest summaries first, at most `limit`; none while
/// vectors of another model than `model` are stored.
pub fn missing(conn: &Reader, model: &str, limit: u32) -> Result<Vec<SessionId>> {
    if embedding_spaces::is_outdated(conn, model)? {
        return Ok(Vec::new());
    }
    conn.all(
        "SELECT session_id FROM mini_summary
         WHERE bullets <> '[]'
               AND NOT EXISTS (SELECT 1 FROM summary_vector WHERE summary_vector.session_id = mini_summary.session_id)
         ORDER BY built_at DESC LIMIT :limit",
        params! { ":limit": limit },
    )
}
