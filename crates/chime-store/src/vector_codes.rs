//! In-memory copy of the vector index for large chats, because reading vectors from SQLite takes longer than comparing
//! them.
//!
//! A document's code is the indexed part of its vector, one byte per value. Codes are read from the index once, then
//! updated from its change log. Log and index are written in the same transaction, so a reader compares exactly the
//! vectors that its snapshot of the index contains.

use std::collections::{BTreeSet, BinaryHeap};

use rusqlite::{OptionalExtension, named_params};

use super::row::{row_id, seq_of};
use super::vector_tables::{Space, VectorTable, indexed_values};
use super::{Reader, Result};
use chime_core::{ChatKey, Seq};

/// Minimum number of index parts for which codes are used. For fewer, reading the index is as fast.
const LEAST_PARTS: usize = 4;
/// Memory limit for all codes. A chat with 50,000 sessions needs 6.5 MB for these and its newest 16,384 messages.
const BYTES: usize = 8 * 1024 * 1024;
/// Codes of the chats that were searched most recently.
#[derive(Default)]
pub struct VectorCodes {
    /// Sorted by last use, the least recently used first.
    all: Vec<ChatCodes>,
}

/// Chat, kind of document and space whose codes are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CodesKey {
    space: i64,
    table: &'static str,
    chat: ChatKey,
}

struct ChatCodes {
    key: CodesKey,
    /// Lowest document id that the codes include.
    from: i64,
    /// Number of the last change in the index log that the codes include.
    seen: i64,
    width: usize,
    seqs: Vec<u32>,
    /// Codes of the documents, `width` bytes each, in the order of `seqs`.
    codes: Vec<u8>,
}

#[derive(Clone, Copy)]
pub(super) struct Searched<'a> {
    pub space: &'a Space,
    pub table: VectorTable,
    pub chat: ChatKey,
    /// Index parts to search, newest first.
    pub parts: &'a [i64],
}

impl VectorCodes {
    /// Returns the ids of the documents whose codes are nearest to `vector`, nearest first. Returns `None` if the chat
    /// is so small that the index itself is as fast.
    pub(super) fn proposed(
        &mut self,
        conn: &Reader,
        searched: Searched<'_>,
        vector: &[u8],
        limit: usize,
    ) -> Result<Option<Vec<i64>>> {
        let Searched { space, table, chat, parts } = searched;
        let Some(oldest) = parts.last().filter(|_| parts.len() >= LEAST_PARTS) else { return Ok(None) };
        let key = CodesKey { space: space.id, table: table.name, chat };
        let known = self.all.iter().position(|one| one.key == key).map(|place| self.all.remove(place));
        let codes = match known.filter(|known| known.from == table.first_of(*oldest)) {
            Some(mut known) => known.catch_up(conn, searched)?.then_some(known),
            None => None,
        };
        let codes = codes.map_or_else(|| ChatCodes::read(conn, key, searched), Ok)?;
        let nearest = codes.nearest(vector, limit);
        self.keep(codes);
        Ok(Some(nearest.into_iter().map(|seq| row_id(chat, Seq(seq))).collect()))
    }

    fn keep(&mut self, codes: ChatCodes) {
        self.all.push(codes);
        while self.all.iter().map(ChatCodes::bytes).sum::<usize>() > BYTES {
            self.all.remove(0);
        }
    }
}

impl ChatCodes {
    fn read(conn: &Reader, key: CodesKey, searched: Searched<'_>) -> Result<Self> {
        let Searched { space, table, parts, .. } = searched;
        let index = table.index(space.id);
        let seen = conn
            .prepare_cached(&format!("SELECT max(number) AS number FROM {index}_changes"))?
            .query_row([], |raw| raw.get("number"))?;
        let from = parts.last().map_or(0, |oldest| table.first_of(*oldest));
        let width = indexed_values(space);
        let mut codes = Self { key, from, seen, width, seqs: Vec::new(), codes: Vec::new() };
        let mut chunks = conn.prepare_cached(&format!(
            "SELECT validity, rowids, vectors FROM {index}_chunks AS chunk
                 JOIN {index}_vector_chunks00 AS held ON held.rowid = chunk.chunk_id
             WHERE partition00 = :part"
        ))?;
        for part in parts {
            let mut rows = chunks.query(named_params! { ":part": part })?;
            while let Some(raw) = rows.next()? {
                let blob = |name| raw.get_ref(name).map(|value| value.as_blob().unwrap_or_default());
                codes.add_chunk(blob("validity")?, blob("rowids")?, blob("vectors")?);
            }
        }
        Ok(codes)
    }

    /// Adds the documents of one vec0 chunk. `taken` is a bitmap of the used slots; `ids` and `vectors` contain all
    /// slots.
    fn add_chunk(&mut self, taken: &[u8], ids: &[u8], vectors: &[u8]) {
        self.make_room(taken.iter().map(|byte| byte.count_ones() as usize).sum());
        let places = ids.as_chunks::<8>().0.iter().zip(vectors.chunks_exact(self.width));
        for (place, (id, vector)) in places.enumerate() {
            if taken.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1) {
                self.add(i64::from_le_bytes(*id), vector);
            }
        }
    }

    /// Reserves space for exactly `more` documents; the usual doubling of the capacity would waste memory.
    fn make_room(&mut self, more: usize) {
        self.seqs.reserve_exact(more);
        self.codes.reserve_exact(more * self.width);
    }

    fn add(&mut self, id: i64, vector: &[u8]) {
        self.seqs.push(seq_of(id).0);
        self.codes.extend(vector.iter().copied().map(unsigned));
    }

    fn remove(&mut self, id: i64) {
        let Some(place) = self.seqs.iter().position(|seq| *seq == seq_of(id).0) else { return };
        self.seqs.swap_remove(place);
        let last = self.codes.len() - self.width;
        self.codes.copy_within(last.., place * self.width);
        self.codes.truncate(last);
    }

    /// Applies the index changes since the last search. Returns `false` if the log no longer contains all of them; then
    /// the codes must be read again.
    fn catch_up(&mut self, conn: &Reader, searched: Searched<'_>) -> Result<bool> {
        let Searched { space, table, .. } = searched;
        let changes = format!("SELECT number, id FROM {}_changes WHERE number >= :seen", table.index(space.id));
        let mut changes = conn.prepare_cached(&changes)?;
        let rows = changes.query_map(named_params! { ":seen": self.seen }, |raw| {
            Ok((raw.get::<_, i64>("number")?, raw.get::<_, i64>("id")?))
        })?;
        let rows: Vec<(i64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
        // If the last applied change is still in the log, all later ones are too.
        if rows.first().is_none_or(|(number, _)| *number != self.seen) {
            return Ok(false);
        }
        let mut vector = conn.prepare_cached(&format!(
            "SELECT vector FROM {} WHERE {} = :id AND space = :space",
            table.name, table.key
        ))?;
        let until = row_id(self.key.chat, Seq(u32::MAX));
        let changed: BTreeSet<i64> = rows[1..].iter().map(|(_, id)| *id).collect();
        for id in changed.range(self.from..=until) {
            self.remove(*id);
            let params = named_params! { ":id": id, ":space": space.id };
            let now: Option<Vec<u8>> = vector.query_row(params, |raw| raw.get("vector")).optional()?;
            if let Some(vector) = now.as_deref().and_then(|vector| vector.get(..self.width)) {
                self.make_room(1);
                self.add(*id, vector);
            }
        }
        self.seen = rows.last().map_or(self.seen, |(number, _)| *number);
        Ok(true)
    }

    /// Returns the numbers of the `limit` documents with the smallest L1 distance to `vector`, nearest first.
    fn nearest(&self, vector: &[u8], limit: usize) -> Vec<u32> {
        let wanted: Vec<u8> = vector.iter().copied().map(unsigned).collect();
        let mut best: BinaryHeap<(u32, u32)> = BinaryHeap::with_capacity(limit + 1);
        for (seq, code) in self.seqs.iter().zip(self.codes.chunks_exact(self.width)) {
            let distance: u32 = code.iter().zip(&wanted).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            if best.len() < limit {
                best.push((distance, *seq));
            } else if let Some(mut worst) = best.peek_mut().filter(|worst| worst.0 > distance) {
                *worst = (distance, *seq);
            }
        }
        best.into_sorted_vec().into_iter().map(|(_, seq)| seq).collect()
    }

    fn bytes(&self) -> usize {
        self.codes.capacity() + self.seqs.capacity() * size_of::<u32>()
    }
}

/// Maps a signed byte to an unsigned one and preserves differences, because processors can sum differences of unsigned
/// bytes in one step.
fn unsigned(byte: u8) -> u8 {
    byte ^ 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;
    use crate::vector_index::{Nearest, by_codes, by_index};
    use crate::vector_tables::MESSAGES;
    use crate::{Priority, Writer, embedding_spaces};

    const CHAT: ChatKey = ChatKey(1);
    const DIMENSION: usize = 64;
    /// Difference between the numbers of two messages with vectors, so that few messages are spread over many parts.
    const APART: u32 = 10;

    fn vector(seed: u32) -> Vec<u8> {
        let value = |place: u32| (seed.wrapping_mul(2_654_435_761).wrapping_add(place * place * 40_503) >> 13) as u8;
        (0..DIMENSION as u32).map(value).collect()
    }

    fn put(tx: &Writer<'_>, space: &Space, (chat, seq): (ChatKey, u32), vector: Option<Vec<u8>>) -> Result<()> {
        let id = row_id(chat, Seq(seq));
        tx.execute("DELETE FROM message_vector WHERE id = ?1", [id])?;
        if let Some(vector) = vector {
            let insert = "INSERT INTO message_vector (id, space, vector) VALUES (?1, ?2, ?3)";
            tx.execute(insert, rusqlite::params![id, space.id, vector])?;
        }
        Ok(())
    }

    /// Loads the codes of a chat with `count` vectors, applies `change`, and checks that codes and index find the same
    /// messages. Returns the number of chats whose codes are in memory, and the number of the message nearest to
    /// `vector(0)`.
    async fn nearest_after(count: u32, change: fn(&Writer<'_>, &Space) -> Result<()>) -> (usize, Option<u32>) {
        let (_folder, store) = new_store().await;
        let look = move |tx: &Writer<'_>| {
            let space = embedding_spaces::ensure(tx, "small", DIMENSION)?;
            for seq in 1..=count {
                put(tx, &space, (CHAT, seq * APART), Some(vector(seq)))?;
            }
            let mut codes = VectorCodes::default();
            let mut find = |seed: u32| {
                let newest = Seq(count * APART + APART);
                let wanted = Nearest { chat: CHAT, newest, vector: &vector(seed), limit: 5 };
                let known = by_codes(tx, &space, MESSAGES, &wanted, &mut codes)?;
                assert_eq!(known, by_index(tx, &space, MESSAGES, &wanted)?, "nearest to {seed}");
                Ok::<_, crate::StoreError>((known, codes.all.len()))
            };
            find(3)?;
            change(tx, &space)?;
            find(7)?;
            let (found, kept) = find(0)?;
            Ok((kept, found.first().map(|(seq, _)| seq.0)))
        };
        store.write(Priority::Background, look).await.unwrap()
    }

    #[tokio::test]
    async fn what_comes_changes_and_goes_is_followed() {
        let added = nearest_after(1_500, |tx, space| put(tx, space, (CHAT, 15_005), Some(vector(0)))).await;
        assert_eq!(added, (1, Some(15_005)));
        let replaced = nearest_after(1_500, |tx, space| {
            put(tx, space, (CHAT, 15_005), Some(vector(0)))?;
            put(tx, space, (CHAT, 15_005), Some(vector(9)))?;
            put(tx, space, (CHAT, 70), Some(vector(0)))?;
            put(tx, space, (ChatKey(2), 15_005), Some(vector(0)))
        });
        assert_eq!(replaced.await, (1, Some(70)));
        let gone = nearest_after(1_500, |tx, space| {
            put(tx, space, (CHAT, 70), Some(vector(0)))?;
            put(tx, space, (CHAT, 70), None)?;
            put(tx, space, (CHAT, 80), Some(vector(0)))
        });
        assert_eq!(gone.await, (1, Some(80)));
    }

    #[tokio::test]
    async fn who_is_too_far_behind_reads_the_index_again() {
        let behind = nearest_after(1_500, |tx, space| {
            put(tx, space, (CHAT, 90), Some(vector(0)))?;
            (1..2_000).try_for_each(|seq| put(tx, space, (ChatKey(2), seq), Some(vector(seq))))
        });
        assert_eq!(behind.await, (1, Some(90)));
    }

    #[tokio::test]
    async fn an_index_that_was_made_anew_is_another() {
        let anew = nearest_after(1_500, |tx, space| {
            tx.execute(
                "UPDATE message_vector SET vector = ?1 WHERE id = ?2",
                rusqlite::params![vector(0), row_id(CHAT, Seq(100))],
            )?;
            super::super::vector_index::remove(tx, space)?;
            super::super::vector_index::create(tx, space)?;
            super::super::vector_index::fill(tx, space, MESSAGES, 0, 10_000).map(drop)
        });
        assert_eq!(anew.await, (1, Some(100)));
    }

    #[tokio::test]
    async fn of_a_small_chat_nothing_is_kept() {
        let small = nearest_after(50, |tx, space| put(tx, space, (CHAT, 70), Some(vector(0)))).await;
        assert_eq!(small, (0, Some(70)));
    }
}
