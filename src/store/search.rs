//! The full-text index over messages: one chat is one range of rowids, so a search cannot leave its chat.

use rusqlite::named_params;

use super::messages::row_id;
use super::stems::{Language, stems};
use super::{Reader, Result, Writer};
use crate::domain::{ChatKey, Seq};

/// What the index is told about a message; deleting needs the very same again.
pub struct Indexed<'a> {
    pub chat: ChatKey,
    pub seq: Seq,
    pub text: &'a str,
    pub author: &'a str,
    pub language: Language,
}

pub fn insert(tx: &Writer<'_>, entry: &Indexed<'_>) -> Result<()> {
    write(tx, "INSERT INTO message_fts (rowid, text, author) VALUES (:id, :text, :author)", entry)
}

pub fn remove(tx: &Writer<'_>, entry: &Indexed<'_>) -> Result<()> {
    write(
        tx,
        "INSERT INTO message_fts (message_fts, rowid, text, author) VALUES ('delete', :id, :text, :author)",
        entry,
    )
}

fn write(tx: &Writer<'_>, sql: &str, entry: &Indexed<'_>) -> Result<()> {
    let text = stems(entry.text, entry.language).join(" ");
    let author = stems(entry.author, entry.language).join(" ");
    if text.is_empty() {
        return Ok(());
    }
    tx.prepare_cached(sql)?.execute(named_params! {
        ":id": row_id(entry.chat, entry.seq), ":text": text, ":author": author,
    })?;
    Ok(())
}

/// The messages of `chat` that hold any word of `query`, best first, at most `limit`.
pub fn any_word(conn: &Reader, chat: ChatKey, language: Language, query: &str, limit: usize) -> Result<Vec<Seq>> {
    // Quoted, so that nothing a member types is read as query syntax.
    let words: Vec<String> = stems(query, language).iter().map(|word| format!("\"{word}\"")).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached(
        "SELECT rowid & 4294967295 AS seq FROM message_fts
         WHERE message_fts MATCH :query AND rowid BETWEEN :chat << 32 AND (:chat << 32) | 4294967295
         ORDER BY rank LIMIT :limit",
    )?;
    let rows = statement.query_map(
        named_params! { ":query": words.join(" OR "), ":chat": chat.0, ":limit": i64::try_from(limit).unwrap_or(i64::MAX) },
        |row| row.get("seq").map(Seq),
    )?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
