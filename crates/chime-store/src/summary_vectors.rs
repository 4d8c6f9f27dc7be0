//! Vectors of mini-summaries. They are stored in a plain table, from which their index can be rebuilt.

use super::sql::{Statements, params};
use super::{Reader, Result, Writer, embedding_spaces};
use chime_core::{ChatKey, SessionId, Timestamp, pack};

/// Stores the vector that `model` made for the summary of a session, and returns `true`. Stores nothing and returns
/// `false` if the summary with time `built_at` was replaced, or if all values are zero. An empty vector is stored, to
/// record that the model cannot represent this text, but the result is also `false`.
pub fn save(tx: &Writer<'_>, session: SessionId, built_at: Timestamp, model: &str, vector: &[f32]) -> Result<bool> {
    let (space, packed) = match pack(vector) {
        Some(packed) => (embedding_spaces::ensure(tx, model, vector.len())?, packed),
        None => match embedding_spaces::of_model(tx, model)? {
            Some(space) if vector.is_empty() => (space, Vec::new()),
            _ => return Ok(false),
        },
    };
    let params = params! { ":id": session, ":built_at": built_at };
    let is_present = tx.any("SELECT 1 FROM mini_summary WHERE session_id = :id AND built_at = :built_at", params)?;
    if !is_present {
        return Ok(false);
    }
    tx.run(
        "DELETE FROM summary_vector WHERE session_id = :id AND space = :space",
        params! { ":id": session, ":space": space.id },
    )?;
    tx.run(
        "INSERT INTO summary_vector (session_id, space, vector) VALUES (:id, :space, :vector)",
        params! { ":id": session, ":space": space.id, ":vector": packed },
    )?;
    Ok(!vector.is_empty())
}

pub fn of_chat(conn: &Reader, chat: ChatKey, model: &str) -> Result<Vec<(SessionId, Vec<f32>)>> {
    conn.all(
        "SELECT session_id, vector FROM summary_vector JOIN vector_space ON vector_space.id = space
         WHERE session_id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND model = :model
               AND length(vector) > 0",
        params! { ":chat": chat, ":model": model },
    )
}

/// Returns the sessions whose summary has no vector of `model`, those with the newest summaries first, at most `limit`.
pub fn missing(conn: &Reader, model: &str, limit: u32) -> Result<Vec<SessionId>> {
    conn.all(
        "SELECT session_id FROM mini_summary
         WHERE bullets <> '[]'
               AND NOT EXISTS (SELECT 1 FROM summary_vector JOIN vector_space ON vector_space.id = space
                               WHERE summary_vector.session_id = mini_summary.session_id AND model = :model)
         ORDER BY built_at DESC LIMIT :limit",
        params! { ":model": model, ":limit": limit },
    )
}
