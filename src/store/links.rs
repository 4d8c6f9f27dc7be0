//! The cache of link scores: what is in it saves time, what is not is worked out again.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement, named_params};

use super::derived::{Cause, Family, Merged};
use super::messages::row_id;
use super::{Reader, Result, StoreError, Writer};
use crate::domain::{ChatId, ChatKey, MessageId, Seq, StoredMessage, Timestamp};

/// Rows of a chat that are kept: about this many messages back from its newest. A trigger looks back 200 in its
/// conversation, of which a forum has several.
const KEPT: u32 = 2_000;
/// Bytes of a link: a distance and a probability.
const LINK: usize = 5;

/// Where a message may go on from, as a scorer saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedLinks {
    /// Of the messages that it was scored against: of use only while they are the same.
    pub past: i64,
    /// How many messages back, at most 255, and how likely; best first.
    pub links: Vec<(u8, f32)>,
}

/// Everything of a message that a score may depend on, as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub chat: ChatId,
    pub id: MessageId,
    pub mark: u64,
}

/// Makes marks of the rows of a statement.
pub struct Marking {
    places: [usize; Marking::COLUMNS.len()],
}

impl Marking {
    /// Everything that a score may depend on; the first two say whose mark it is.
    const COLUMNS: [&str; 10] = [
        "telegram_chat_id",
        "message_id",
        "user_id",
        "sender_name",
        "sender_username",
        "ts",
        "edit_ts",
        "text",
        "entities",
        "source",
    ];

    /// The columns as a list.
    pub fn columns() -> String {
        Self::COLUMNS.join(", ")
    }

    /// For a statement that reads these columns, whatever others it reads.
    pub fn of(statement: &Statement<'_>) -> rusqlite::Result<Self> {
        let mut places = [0; Self::COLUMNS.len()];
        for (place, column) in places.iter_mut().zip(Self::COLUMNS) {
            *place = statement.column_index(column)?;
        }
        Ok(Self { places })
    }

    pub fn mark(&self, raw: &Row<'_>) -> rusqlite::Result<Mark> {
        let mut digest = Digest::default();
        for place in self.places {
            match raw.get_ref(place)? {
                ValueRef::Null => digest.add(0),
                ValueRef::Integer(number) => digest.add(number.cast_unsigned()),
                ValueRef::Real(number) => digest.add(number.to_bits()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => digest.add_all(bytes),
            }
        }
        Ok(Mark { chat: ChatId(raw.get(self.places[0])?), id: MessageId(raw.get(self.places[1])?), mark: digest.0 })
    }
}

/// A fingerprint of values in their order, by folded multiplications: eight bytes a step. A trigger marks four hundred
/// messages, and nobody gains by two that are alike.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }
}

impl Digest {
    fn add(&mut self, value: u64) {
        const FACTOR: u128 = 0xf135_7aea_2e62_a9c5;
        let product = u128::from(self.0 ^ value) * FACTOR;
        // Added, so that no value leaves a zero behind.
        self.0 = ((product >> 64) as u64 ^ product as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }

    fn add_all(&mut self, bytes: &[u8]) {
        // Where one value ends and the next begins matters too.
        self.add(!(bytes.len() as u64));
        let (numbers, rest) = bytes.as_chunks::<8>();
        numbers.iter().for_each(|number| self.add(u64::from_le_bytes(*number)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.add(u64::from_le_bytes(last));
        }
    }
}

/// The rows of a chat from `from` to `to` that a scorer of this version wrote.
pub fn between(conn: &Reader, chat: ChatKey, (from, to): (Seq, Seq), scorer: u32) -> Result<HashMap<Seq, CachedLinks>> {
    let mut statement = conn.prepare_cached(
        "SELECT id & 4294967295 AS seq, past, antecedents FROM link_cache
         WHERE id BETWEEN :from AND :to AND scorer = :scorer",
    )?;
    let params = named_params! { ":from": row_id(chat, from), ":to": row_id(chat, to), ":scorer": scorer };
    let rows = statement.query_map(params, |raw| {
        Ok((raw.get("seq").map(Seq)?, raw.get::<_, i64>("past")?, raw.get::<_, Vec<u8>>("antecedents")?))
    })?;
    rows.map(|found| {
        let (seq, past, bytes) = found?;
        Ok((seq, CachedLinks { past, links: unpacked(&bytes)? }))
    })
    .collect()
}

pub(super) const FAMILY: Family =
    Family { tables: &["link_cache"], words_gone: forget, chat_gone, merged, ..Family::UNTOUCHED };

/// Forgets what was worked out about a message. What rests on it elsewhere is worth nothing without it.
fn forget(tx: &Writer<'_>, stored: &StoredMessage, _: Cause) -> Result<()> {
    tx.prepare_cached("DELETE FROM link_cache WHERE id = :id")?
        .execute(named_params! { ":id": row_id(stored.chat, stored.seq) })?;
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.prepare_cached("DELETE FROM link_cache WHERE id BETWEEN :from AND :to")?
        .execute(named_params! { ":from": row_id(chat, Seq(0)), ":to": row_id(chat, Seq(u32::MAX)) })?;
    Ok(())
}

/// What was worked out among other messages than there are now is worth nothing.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    chat_gone(tx, chats.from, Timestamp::default())
}

/// Keeps rows in place of what was there, and drops those that are far back by now.
pub fn keep(tx: &Writer<'_>, scorer: u32, rows: &[(ChatKey, Seq, CachedLinks)]) -> Result<()> {
    let mut newest: HashMap<ChatKey, Seq> = HashMap::new();
    for (chat, seq, cached) in rows {
        tx.prepare_cached(
            "INSERT OR REPLACE INTO link_cache (id, scorer, past, antecedents) VALUES (:id, :scorer, :past, :links)",
        )?
        .execute(named_params! {
            ":id": row_id(*chat, *seq), ":scorer": scorer, ":past": cached.past, ":links": packed(&cached.links),
        })?;
        let last = newest.entry(*chat).or_insert(*seq);
        *last = (*last).max(*seq);
    }
    for (chat, seq) in newest {
        tx.prepare_cached("DELETE FROM link_cache WHERE id BETWEEN :from AND :to")?.execute(named_params! {
            ":from": row_id(chat, Seq(0)), ":to": row_id(chat, Seq(seq.0.saturating_sub(KEPT))),
        })?;
    }
    Ok(())
}

fn packed(links: &[(u8, f32)]) -> Vec<u8> {
    let bytes = |(distance, probability): &(u8, f32)| std::iter::once(*distance).chain(probability.to_le_bytes());
    links.iter().flat_map(bytes).collect()
}

fn unpacked(bytes: &[u8]) -> Result<Vec<(u8, f32)>> {
    let (links, rest) = bytes.as_chunks::<LINK>();
    if !rest.is_empty() {
        return Err(StoreError::BadValue { column: "antecedents", what: format!("{} bytes", bytes.len()) });
    }
    Ok(links.iter().map(|[distance, a, b, c, d]| (*distance, f32::from_le_bytes([*a, *b, *c, *d]))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_values_and_their_bounds_apart() {
        let of = |values: &[&[u8]]| {
            let mut digest = Digest::default();
            values.iter().for_each(|value| digest.add_all(value));
            digest.0
        };
        let told: [&[&[u8]]; 7] =
            [&[], &[b""], &[b"ab"], &[b"a", b"b"], &[b"b", b"a"], &[b"12345678"], &[b"12345678\0"]];
        let digests: std::collections::HashSet<u64> = told.into_iter().map(of).collect();
        assert_eq!(digests.len(), told.len());
        assert_eq!(of(&[b"ab", b"c"]), of(&[b"ab", b"c"]));
    }

    #[test]
    fn links_come_back_to_the_bit() {
        let links = vec![(1, 0.75), (200, f32::MIN_POSITIVE), (3, 0.1 + 0.2)];
        assert_eq!(unpacked(&packed(&links)).unwrap(), links);
        assert_eq!(unpacked(&[]).unwrap(), []);
        assert!(unpacked(&[1, 2, 3]).is_err());
    }
}
