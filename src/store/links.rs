//! The cache of link scores: what is in it saves time, what is not is worked out again.

use std::collections::HashMap;

use rusqlite::named_params;

use super::messages::row_id;
use super::{Reader, Result, Writer, row};
use crate::domain::{ChatKey, Seq};

/// How far back, and how likely.
pub type CachedLinks = Vec<(usize, f32)>;

/// The rows of a chat from `from` to `to` that a scorer of this version wrote.
pub fn between(
    conn: &Reader,
    chat: ChatKey,
    (from, to): (Seq, Seq),
    scorer: u32,
) -> Result<HashMap<Seq, CachedLinks>> {
    let mut statement = conn.prepare_cached(
        "SELECT id & 4294967295 AS seq, antecedents FROM link_cache
         WHERE id BETWEEN :from AND :to AND scorer = :scorer",
    )?;
    let params = named_params! { ":from": row_id(chat, from), ":to": row_id(chat, to), ":scorer": scorer };
    let rows = statement.query_map(params, |raw| {
        Ok((raw.get("seq").map(Seq)?, raw.get::<_, String>("antecedents")?))
    })?;
    rows.map(|found| {
        let (seq, json) = found?;
        Ok((seq, row::json(&json, "antecedents")?))
    })
    .collect()
}

/// Keeps rows, replacing those of older scorers.
pub fn keep(tx: &Writer<'_>, chat: ChatKey, scorer: u32, rows: &[(Seq, CachedLinks)]) -> Result<()> {
    for (seq, links) in rows {
        tx.prepare_cached("INSERT OR REPLACE INTO link_cache (id, scorer, antecedents) VALUES (:id, :scorer, :links)")?
            .execute(named_params! {
                ":id": row_id(chat, *seq), ":scorer": scorer, ":links": row::to_json(links, "antecedents")?,
            })?;
    }
    Ok(())
}

/// Forgets the rows from `from` on: the messages they were counted over have changed.
pub fn forget_from(tx: &Writer<'_>, chat: ChatKey, from: Seq) -> Result<usize> {
    Ok(tx
        .prepare_cached("DELETE FROM link_cache WHERE id BETWEEN :from AND :to")?
        .execute(named_params! { ":from": row_id(chat, from), ":to": row_id(chat, Seq(u32::MAX)) })?)
}
