//! Nearest-neighbour search. For each kind of document, a vec0 index (of the sqlite-vec extension) proposes candidates,
//! which are then ranked by the exact cosine of the stored vectors. The index can be rebuilt from the vectors at any
//! time.

use std::sync::Once;

use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};

use super::row::seq_of;
use super::sql::{Statements, params};
use super::vector_tables::{Space, TABLES, VectorTable};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, packed_cosine};

/// Vectors per chunk of a vec0 table. Each part of the index fills at least one chunk: larger chunks make a search
/// faster, but waste more space for small chats.
const CHUNK: u32 = 512;
/// Minimum number of candidates taken from the index. The index compares L1 distances, which takes a fifth of the time
/// of exact cosines.
const PROPOSED: usize = 64;

/// Returns the SQL column definition of an index. An index that was created with another definition is rebuilt.
fn column(dimension: usize) -> String {
    format!("vector int8[{dimension}] distance_metric=L1, chunk_size={CHUNK}")
}

/// Registers the sqlite-vec extension for every connection that the process opens from now on.
pub fn register() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        #[expect(unsafe_code, reason = "SQLite takes extensions as plain functions")]
        // The crate declares the entry point of sqlite-vec without its arguments; this is its actual C type.
        let registered = unsafe {
            let entry = std::mem::transmute::<*const (), RawAutoExtension>(sqlite_vec::sqlite3_vec_init as *const ());
            register_auto_extension(entry)
        };
        if let Err(error) = registered {
            tracing::error!(%error, "vectors are searched without an index");
        }
    });
}

/// Creates the empty index, with triggers that add and remove vectors from now on. [`fill`] adds the older ones.
pub fn create(tx: &Writer<'_>, dimension: usize) -> Result<()> {
    for table in TABLES {
        let (index, column) = (table.index(), column(dimension));
        let VectorTable { name, key, part_bits, .. } = table;
        tx.execute_batch(&format!(
            "CREATE VIRTUAL TABLE {index} USING vec0(
                 id integer primary key, part integer partition key, {column});
             -- vec0 looks for the chunks of a part by reading them all.
             CREATE INDEX {index}_by_part ON {index}_chunks (partition00);
             CREATE TRIGGER {index}_kept AFTER INSERT ON {name} WHEN length(NEW.vector) > 0 BEGIN
                 INSERT INTO {index} (id, part, vector)
                 VALUES (NEW.{key}, NEW.{key} >> {part_bits}, vec_int8(NEW.vector));
             END;
             CREATE TRIGGER {index}_gone AFTER DELETE ON {name} BEGIN
                 DELETE FROM {index} WHERE id = OLD.{key};
             END;"
        ))?;
    }
    Ok(())
}

/// Returns the SQL that created a table, or `None` if there is no such table.
fn definition(conn: &Reader, name: &str) -> Result<Option<String>> {
    conn.first("SELECT sql FROM sqlite_schema WHERE name = :name", params! { ":name": name })
}

/// Removes the index but keeps the vectors.
pub fn remove(tx: &Writer<'_>) -> Result<()> {
    for table in TABLES {
        let index = table.index();
        tx.execute_batch(&format!(
            "DROP TRIGGER IF EXISTS {index}_kept; DROP TRIGGER IF EXISTS {index}_gone; DROP TABLE IF EXISTS {index};"
        ))?;
    }
    Ok(())
}

/// Adds the next vectors of `table`, those with keys above `after`, to the index: at most `limit`. Returns the last
/// key, or `None` if there are no more.
pub fn fill(tx: &Writer<'_>, table: VectorTable, after: i64, limit: u32) -> Result<Option<i64>> {
    let VectorTable { name, key, part_bits, .. } = table;
    let index = table.index();
    let last: Option<i64> = tx.one(
        &format!("SELECT max({key}) FROM (SELECT {key} FROM {name} WHERE {key} > :after ORDER BY {key} LIMIT :limit)"),
        params! { ":after": after, ":limit": limit },
    )?;
    if let Some(last) = last {
        // Vectors that arrived after the index was created were added by its triggers, so they are skipped.
        tx.run(
            &format!(
                "INSERT INTO {index} (id, part, vector)
                 SELECT {key}, {key} >> {part_bits}, vec_int8(vector) FROM {name}
                 WHERE {key} > :after AND {key} <= :last AND length(vector) > 0
                       AND NOT EXISTS (SELECT 1 FROM {index}_rowids AS known WHERE known.rowid = {name}.{key})"
            ),
            params! { ":after": after, ":last": last },
        )?;
    }
    Ok(last)
}

/// Returns `true` if the index has the current column definition and contains as many vectors as the table.
pub fn is_whole(conn: &Reader, space: &Space) -> Result<bool> {
    for table in TABLES {
        let index = table.index();
        if definition(conn, &index)?.is_none_or(|sql| !sql.contains(&column(space.dimension))) {
            return Ok(false);
        }
        let sql = format!(
            "SELECT (SELECT count(*) FROM {} WHERE length(vector) > 0) = (SELECT count(*) FROM {index}_rowids)",
            table.name
        );
        if !conn.one::<bool>(&sql, &[])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Document with its cosine similarity to the query vector.
pub type Near = (Seq, f32);

#[derive(Debug, Clone, Copy)]
pub struct Nearest<'a> {
    pub chat: ChatKey,
    /// Number of the chat's newest document: it determines which parts are searched.
    pub newest: Seq,
    /// Query vector, packed like the vectors of the searched space.
    pub vector: &'a [u8],
    pub limit: usize,
}

/// Returns the documents of a chat that are nearest to the query vector, nearest first. The result is empty if the
/// query vector has the wrong length. While the index is being rebuilt, documents may be missing.
pub fn nearest(conn: &Reader, space: &Space, table: VectorTable, wanted: &Nearest<'_>) -> Result<Vec<Near>> {
    if wanted.vector.len() != space.dimension || definition(conn, &table.index())?.is_none() {
        return Ok(Vec::new());
    }
    let (first, last) = table.parts(wanted.chat, wanted.newest);
    let proposed: Vec<i64> = conn.all(
        &format!(
            "SELECT id FROM {} WHERE vector MATCH vec_int8(:vector) AND k = :k AND part >= :first AND part <= :last",
            table.index()
        ),
        params! { ":vector": wanted.vector, ":k": wanted.limit.max(PROPOSED), ":first": first, ":last": last },
    )?;
    let stored = format!("SELECT vector FROM {} WHERE {} = :id", table.name, table.key);
    let mut found = Vec::with_capacity(proposed.len());
    for id in proposed {
        let vector: Vec<u8> = conn.one(&stored, params! { ":id": id })?;
        found.push((seq_of(id), packed_cosine(&vector, wanted.vector)));
    }
    found.sort_by(|a: &Near, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(wanted.limit);
    Ok(found)
}
