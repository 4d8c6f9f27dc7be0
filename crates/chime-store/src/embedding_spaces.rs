//! The embedding space: the model that made the stored vectors, and the messages that need one. All stored vectors are
//! of one model and have one dimension. After a change of the model, all old vectors are deleted before new ones are
//! stored: vectors of different models are never compared.

use super::messages::VISIBLE;
use super::sql::{Statements, params, rows};
use super::vector_tables::{Space, TABLES};
use super::{Reader, Result, Writer, vector_index};

rows! {
    Space { model, dimension }
    DueVector { sent_at = "ts", id, text }
}

/// Returns the space of the stored vectors, or `None` if none are stored or vectors of a former model are being deleted.
pub fn current(conn: &Reader) -> Result<Option<Space>> {
    conn.first("SELECT model, dimension FROM vector_space", &[])
}

/// Returns `true` if vectors of `model` in `dimension` may be stored. The first ones create the space and its index.
pub(super) fn admits(tx: &Writer<'_>, model: &str, dimension: usize) -> Result<bool> {
    if let Some(space) = current(tx)? {
        return Ok(space.model == model && space.dimension == dimension);
    }
    if has_vectors(tx)? {
        return Ok(false);
    }
    tx.run(
        "INSERT INTO vector_space (model, dimension) VALUES (:model, :dimension)",
        params! { ":model": model, ":dimension": dimension },
    )?;
    vector_index::create(tx, dimension)?;
    Ok(true)
}

/// Returns `true` if vectors of another model than `model` are stored.
pub fn is_outdated(conn: &Reader, model: &str) -> Result<bool> {
    match current(conn)? {
        Some(space) => Ok(space.model != model),
        None => has_vectors(conn),
    }
}

fn has_vectors(conn: &Reader) -> Result<bool> {
    // The highest id is found at the end of the index, without a scan.
    conn.one(
        "SELECT (SELECT max(id) FROM message_vector) IS NOT NULL OR EXISTS (SELECT 1 FROM summary_vector) AS found",
        &[],
    )
}

/// Deletes the space and its index, which ends the search by vectors; when called again, its vectors, at most `limit`
/// of each table at a time. Their messages need new ones.
pub fn clear_some(tx: &Writer<'_>, limit: u32) -> Result<()> {
    if tx.changed("DELETE FROM vector_space", &[])? > 0 {
        return vector_index::remove(tx);
    }
    tx.run(
        "INSERT OR IGNORE INTO vector_due (ts, id) SELECT ts, id FROM message
         WHERE id IN (SELECT id FROM message_vector ORDER BY id LIMIT :limit)",
        params! { ":limit": limit },
    )?;
    for table in TABLES {
        let (name, key) = (table.name, table.key);
        tx.run(
            &format!("DELETE FROM {name} WHERE {key} IN (SELECT {key} FROM {name} ORDER BY {key} LIMIT :limit)"),
            params! { ":limit": limit },
        )?;
    }
    Ok(())
}

/// Message that is new or was changed, and whose vector is not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueVector {
    /// Unix seconds.
    pub(super) sent_at: i64,
    /// Row id of the message.
    pub(super) id: i64,
    /// `None` if the message needs no vector: it has no text, or may not be read.
    pub text: Option<String>,
}

/// Returns the newest messages that may need a vector, at most `limit`, in the order of their row ids.
pub fn due(conn: &Reader, limit: u32) -> Result<Vec<DueVector>> {
    conn.all(
        &format!(
            "SELECT ts, id, (SELECT text FROM message WHERE message.id = newest.id AND {VISIBLE}
                             AND role <> 'system' AND trim(text) <> '') AS text
             FROM (SELECT ts, id FROM vector_due ORDER BY ts DESC, id DESC LIMIT :limit) AS newest ORDER BY id"
        ),
        params! { ":limit": limit },
    )
}

/// Number of vectors of a model that exist and that are needed, as pairs of (existing, needed).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorCoverage {
    pub messages: (u64, u64),
    pub summaries: (u64, u64),
}

/// Counts the vectors that `model` has made and that it needs.
pub fn coverage(conn: &Reader, model: &str) -> Result<VectorCoverage> {
    let count = |sql: &str| conn.one::<u64>(sql, &[]);
    let stored = (count("SELECT count(*) FROM message_vector")?, count("SELECT count(*) FROM summary_vector")?);
    let due = count("SELECT count(*) FROM vector_due")?;
    let summaries = count("SELECT count(*) FROM mini_summary WHERE bullets <> '[]'")?;
    let made = if is_outdated(conn, model)? { (0, 0) } else { stored };
    Ok(VectorCoverage { messages: (made.0, stored.0 + due), summaries: (made.1, summaries) })
}
