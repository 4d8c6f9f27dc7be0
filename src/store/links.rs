//! The cache of link scores: what is in it saves time, what is not is worked out again.

use std::collections::HashMap;

use rusqlite::named_params;

use super::messages::row_id;
use super::{Reader, Result, Writer, row};
use crate::domain::{ChatKey, Seq};

/// Where a message may go on from, as a scorer saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedLinks {
    /// Of the messages that it was scored against: of use only while they are the same.
    pub past: i64,
    /// How many messages back, and how likely; best first.
    pub links: Vec<(usize, f32)>,
}

/// The rows of a chat from `from` to `to` that a scorer of this version wrote.
pub fn between(conn: &Reader, chat: ChatKey, (from, to): (Seq, Seq), scorer: u32) -> Result<HashMap<Seq, CachedLinks>> {
    let mut statement = conn.prepare_cached(
        "SELECT id & 4294967295 AS seq, past, antecedents FROM link_cache
         WHERE id BETWEEN :from AND :to AND scorer = :scorer",
    )?;
    let params = named_params! { ":from": row_id(chat, from), ":to": row_id(chat, to), ":scorer": scorer };
    let rows = statement.query_map(params, |raw| {
        Ok((raw.get("seq").map(Seq)?, raw.get::<_, i64>("past")?, raw.get::<_, String>("antecedents")?))
    })?;
    rows.map(|found| {
        let (seq, past, json) = found?;
        Ok((seq, CachedLinks { past, links: row::json(&json, "antecedents")? }))
    })
    .collect()
}

/// Forgets what was worked out about a message. What rests on it elsewhere is worth nothing without it.
pub fn forget(tx: &Writer<'_>, chat: ChatKey, seq: Seq) -> Result<()> {
    tx.prepare_cached("DELETE FROM link_cache WHERE id = :id")?.execute(named_params! { ":id": row_id(chat, seq) })?;
    Ok(())
}

/// Keeps rows in place of what was there.
pub fn keep(tx: &Writer<'_>, chat: ChatKey, scorer: u32, rows: &[(Seq, CachedLinks)]) -> Result<()> {
    for (seq, cached) in rows {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO link_cache (id, scorer, past, antecedents) VALUES (:id, :scorer, :past, :links)",
        )?
        .execute(named_params! {
            ":id": row_id(chat, *seq), ":scorer": scorer, ":past": cached.past,
            ":links": row::to_json(&cached.links, "antecedents")?,
        })?;
    }
    Ok(())
}
