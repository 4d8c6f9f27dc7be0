//! Nearest-neighbour search. For each embedding space and kind of document, a vec0 index (of the sqlite-vec extension)
//! proposes candidates, which are then ranked by the exact cosine of the stored vectors. The index can be rebuilt from
//! the vectors at any time; while it is incomplete, all vectors are compared instead.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Once;

use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};
use rusqlite::{OptionalExtension, named_params};

use super::row::seq_of;
use super::vector_codes::{Searched, VectorCodes};
use super::vector_tables::{Space, TABLES, VectorTable, indexed_values};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, packed_cosine};

/// Vectors per chunk of a vec0 table. Each part of the index fills at least one chunk: larger chunks make a search
/// faster, but waste more space for small chats.
const CHUNK: u32 = 512;
/// Minimum number of candidates taken from the index. The index compares L1 distances, which takes a fifth of the time
/// of exact cosines.
const PROPOSED: usize = 64;
/// Minimum number of candidates taken from the first part if more parts follow. Fewer are faster, because vec0 scans
/// all distances of a part once per candidate. The distance of the last of them already excludes nearly all documents
/// of the other parts.
const FIRST_PROPOSED: usize = 32;
/// Number of changes that the change log of an index keeps. An in-memory copy that missed more reads the whole index
/// again.
const CHANGES_KEPT: u32 = 1024;

/// Returns the SQL column definition of an index. An index that was created with another definition is rebuilt.
fn column(space: &Space) -> String {
    format!("vector int8[{}] distance_metric=L1, chunk_size={CHUNK}", indexed_values(space))
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

/// Creates the empty index of a space, with triggers that add and remove vectors from now on. [`fill`] adds the older
/// ones.
pub fn create(tx: &Writer<'_>, space: &Space) -> Result<()> {
    for table in TABLES {
        let (index, id, values) = (table.index(space.id), space.id, indexed_values(space));
        let VectorTable { name, key, part_bits, .. } = table;
        let column = column(space);
        tx.execute_batch(&format!(
            "CREATE VIRTUAL TABLE {index} USING vec0(
                 id integer primary key, part integer partition key, {column});
             -- vec0 looks for the chunks of a part by reading them all.
             CREATE INDEX {index}_by_part ON {index}_chunks (partition00);
             CREATE TABLE {index}_changes (number INTEGER PRIMARY KEY, id INTEGER NOT NULL) STRICT;
             -- Begins anywhere, so that it is not taken for the log of an index that was here before.
             INSERT INTO {index}_changes (number, id) VALUES (random() & 0xffffffffff, 0);
             CREATE TRIGGER {index}_changed AFTER INSERT ON {index}_changes BEGIN
                 DELETE FROM {index}_changes WHERE number <= NEW.number - {CHANGES_KEPT};
             END;
             CREATE TRIGGER {index}_kept AFTER INSERT ON {name} WHEN NEW.space = {id} AND length(NEW.vector) > 0 BEGIN
                 INSERT INTO {index} (id, part, vector)
                 VALUES (NEW.{key}, NEW.{key} >> {part_bits}, vec_int8(substr(NEW.vector, 1, {values})));
                 INSERT INTO {index}_changes (id) VALUES (NEW.{key});
             END;
             CREATE TRIGGER {index}_gone AFTER DELETE ON {name} WHEN OLD.space = {id} BEGIN
                 DELETE FROM {index} WHERE id = OLD.{key};
                 INSERT INTO {index}_changes (id) VALUES (OLD.{key});
             END;"
        ))?;
    }
    Ok(())
}

/// Returns `true` if the index of a space exists for at least one kind of document.
pub fn exists(conn: &Reader, space: &Space) -> Result<bool> {
    let mut statement = conn.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = :name")?;
    for table in TABLES {
        if statement.exists(named_params! { ":name": table.index(space.id) })? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the index of a space but keeps its vectors.
pub fn remove(tx: &Writer<'_>, space: &Space) -> Result<()> {
    for table in TABLES {
        let index = table.index(space.id);
        tx.execute_batch(&format!(
            "DROP TRIGGER IF EXISTS {index}_kept; DROP TRIGGER IF EXISTS {index}_gone;
             DROP TABLE IF EXISTS {index}_changes; DROP TABLE IF EXISTS {index};"
        ))?;
    }
    Ok(())
}

/// Adds the next vectors of `table`, those with keys above `after`, to the index: at most `limit`. Returns the last
/// key, or `None` if there are no more.
pub fn fill(tx: &Writer<'_>, space: &Space, table: VectorTable, after: i64, limit: u32) -> Result<Option<i64>> {
    let VectorTable { name, key, part_bits, .. } = table;
    let (index, values) = (table.index(space.id), indexed_values(space));
    let params = named_params! { ":space": space.id, ":after": after, ":limit": limit };
    let last: Option<i64> = tx
        .prepare_cached(&format!(
            "SELECT max({key}) AS last FROM (SELECT {key} FROM {name} WHERE space = :space AND {key} > :after
                                             ORDER BY {key} LIMIT :limit)"
        ))?
        .query_row(params, |raw| raw.get("last"))?;
    if let Some(last) = last {
        // Vectors that arrived after the index was created were added by its triggers, so they are skipped.
        tx.prepare_cached(&format!(
            "INSERT INTO {index} (id, part, vector)
             SELECT {key}, {key} >> {part_bits}, vec_int8(substr(vector, 1, {values})) FROM {name}
             WHERE space = :space AND {key} > :after AND {key} <= :last AND length(vector) > 0
                   AND NOT EXISTS (SELECT 1 FROM {index}_rowids AS known WHERE known.rowid = {name}.{key})"
        ))?
        .execute(named_params! { ":space": space.id, ":after": after, ":last": last })?;
    }
    Ok(last)
}

/// Returns `true` if the index has the current column definition and contains as many vectors as the table.
pub fn is_whole(conn: &Reader, space: &Space) -> Result<bool> {
    let count = |sql: &str| conn.query_row(sql, [], |raw| raw.get::<_, i64>("n"));
    for table in TABLES {
        let made = |name: String| {
            conn.prepare_cached("SELECT sql FROM sqlite_schema WHERE name = :name")?
                .query_row(named_params! { ":name": name }, |raw| raw.get::<_, String>("sql"))
                .optional()
        };
        let index = table.index(space.id);
        if made(format!("{index}_changes"))?.is_none() || made(index)?.is_none_or(|sql| !sql.contains(&column(space))) {
            return Ok(false);
        }
        let kept = count(&format!(
            "SELECT count(*) AS n FROM {} WHERE space = {} AND length(vector) > 0",
            table.name, space.id
        ))?;
        if kept != count(&format!("SELECT count(*) AS n FROM {}_rowids", table.index(space.id)))? {
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

/// Returns the documents of a chat that are nearest to the query vector, nearest first. Searches with the index if it
/// is complete, otherwise by comparing all vectors. `codes` is an optional in-memory copy of the index. The result is
/// empty if the query vector has the wrong length.
pub fn nearest(
    conn: &Reader,
    space: &Space,
    table: VectorTable,
    wanted: &Nearest<'_>,
    codes: Option<&mut VectorCodes>,
) -> Result<Vec<Near>> {
    if wanted.vector.len() != space.dimension {
        return Ok(Vec::new());
    }
    if space.is_indexed {
        let found = match codes {
            Some(codes) => by_codes(conn, space, table, wanted, codes),
            None => by_index(conn, space, table, wanted),
        };
        match found {
            Ok(found) => return Ok(found),
            Err(error) => tracing::warn!(%error, "the index of vectors cannot be read, so all of them are compared"),
        }
    }
    by_scan(conn, space, table, wanted)
}

/// Searches with the vec0 index, then ranks its candidates by the exact cosine of their vectors.
pub fn by_index(conn: &Reader, space: &Space, table: VectorTable, wanted: &Nearest<'_>) -> Result<Vec<Near>> {
    let proposed = proposed(conn, space, table, wanted)?;
    compared(conn, space, table, wanted, proposed)
}

/// Searches with the in-memory copy of the index if the chat is large enough, otherwise with the vec0 index, and ranks
/// the candidates by exact cosine.
pub fn by_codes(
    conn: &Reader,
    space: &Space,
    table: VectorTable,
    wanted: &Nearest<'_>,
    codes: &mut VectorCodes,
) -> Result<Vec<Near>> {
    let parts: Vec<i64> = table.parts(wanted.chat, wanted.newest).collect();
    let searched = Searched { space, table, chat: wanted.chat, parts: &parts };
    let limit = wanted.limit.max(PROPOSED);
    match codes.proposed(conn, searched, indexed(space, wanted), limit) {
        Ok(Some(proposed)) => compared(conn, space, table, wanted, proposed),
        Ok(None) => by_index(conn, space, table, wanted),
        Err(error) => {
            tracing::debug!(%error, "an index has no log of changes yet");
            by_index(conn, space, table, wanted)
        }
    }
}

/// Returns the first values of the query vector: only this many are indexed.
fn indexed<'a>(space: &Space, wanted: &Nearest<'a>) -> &'a [u8] {
    wanted.vector.get(..indexed_values(space)).unwrap_or(wanted.vector)
}

fn compared(
    conn: &Reader,
    space: &Space,
    table: VectorTable,
    wanted: &Nearest<'_>,
    proposed: Vec<i64>,
) -> Result<Vec<Near>> {
    let mut read = conn
        .prepare_cached(&format!("SELECT vector FROM {} WHERE {} = :id AND space = :space", table.name, table.key))?;
    let mut found = Best::of(wanted.limit);
    for id in proposed {
        let cosine = read.query_row(named_params! { ":id": id, ":space": space.id }, |raw| {
            Ok(packed_cosine(raw.get_ref("vector")?.as_blob().unwrap_or_default(), wanted.vector))
        })?;
        found.add(id, cosine);
    }
    Ok(found.sorted())
}

/// Returns the candidates of the index, nearest first. After the first part, it only requests documents that are nearer
/// than the farthest candidate so far, because vec0 is slow at selecting many documents from a part.
fn proposed(conn: &Reader, space: &Space, table: VectorTable, wanted: &Nearest<'_>) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT id, distance FROM {}
         WHERE vector MATCH vec_int8(:vector) AND k = :k AND part = :part AND distance < :least",
        table.index(space.id)
    ))?;
    let limit = wanted.limit.max(PROPOSED);
    let vector = indexed(space, wanted);
    let parts: Vec<i64> = table.parts(wanted.chat, wanted.newest).collect();
    let mut nearest: Vec<(f64, i64)> = Vec::with_capacity(2 * limit);
    let mut least = f64::from(f32::MAX);
    let mut asked = if parts.len() > 1 { wanted.limit.max(FIRST_PROPOSED) } else { limit };
    for part in parts {
        let k = i64::try_from(asked).unwrap_or(i64::MAX);
        let params = named_params! { ":vector": vector, ":k": k, ":part": part, ":least": least };
        let rows = statement.query_map(params, |raw| Ok((raw.get("distance")?, raw.get("id")?)))?;
        for row in rows {
            nearest.push(row?);
        }
        nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        nearest.truncate(limit);
        if let Some((worst, _)) = nearest.last().filter(|_| nearest.len() >= asked) {
            least = *worst;
            asked = limit;
        }
    }
    Ok(nearest.into_iter().map(|(_, id)| id).collect())
}

/// Searches without an index: compares the query with all vectors in the searched parts.
pub fn by_scan(conn: &Reader, space: &Space, table: VectorTable, wanted: &Nearest<'_>) -> Result<Vec<Near>> {
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {key} AS id, vector FROM {name} WHERE {key} BETWEEN :from AND :to AND space = :space",
        key = table.key,
        name = table.name,
    ))?;
    let mut found = Best::of(wanted.limit);
    for part in table.parts(wanted.chat, wanted.newest) {
        let (from, to) = (part << table.part_bits, ((part + 1) << table.part_bits) - 1);
        let mut rows = statement.query(named_params! { ":from": from, ":to": to, ":space": space.id })?;
        while let Some(raw) = rows.next()? {
            let cosine = packed_cosine(raw.get_ref("vector")?.as_blob().unwrap_or_default(), wanted.vector);
            found.add(raw.get("id")?, cosine);
        }
    }
    Ok(found.sorted())
}

/// Heap of the `limit` documents with the highest cosine.
struct Best {
    limit: usize,
    heap: BinaryHeap<Reverse<(Ordered, i64)>>,
}

#[derive(PartialEq)]
struct Ordered(f32);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Best {
    fn of(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::with_capacity(limit + 1) }
    }

    fn add(&mut self, id: i64, cosine: f32) {
        if self.heap.len() >= self.limit {
            match self.heap.peek() {
                Some(Reverse((worst, _))) if worst.0 >= cosine => return,
                _ => drop(self.heap.pop()),
            }
        }
        self.heap.push(Reverse((Ordered(cosine), id)));
    }

    fn sorted(self) -> Vec<Near> {
        // The order is reversed, so the highest cosine comes first.
        self.heap.into_sorted_vec().into_iter().map(|Reverse((cosine, id))| (seq_of(id), cosine.0)).collect()
    }
}
