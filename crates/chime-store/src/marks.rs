//! Fingerprints of messages: a value computed from a message stays valid while its mark is the same.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};

use chime_core::{ChatId, MessageId};

/// Fingerprint of everything in a message that a score may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    pub chat: ChatId,
    pub id: MessageId,
    pub mark: u64,
}

/// Positions of the mark columns in a statement.
pub struct Marking {
    places: [usize; Marking::COLUMNS.len()],
}

impl Marking {
    /// Everything that a score may depend on. The first two columns identify the message.
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

    /// Returns the columns as a comma-separated list.
    pub fn columns() -> String {
        Self::COLUMNS.join(", ")
    }

    /// Finds the mark columns in a statement, which may read other columns too.
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

/// Order-dependent fingerprint of values, by folded multiplication of eight bytes at a time. Fast, because a trigger
/// marks four hundred messages; not collision-resistant, because nobody gains from a collision.
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
        // The addition keeps a zero product from making the state zero.
        self.0 = ((product >> 64) as u64 ^ product as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }

    fn add_all(&mut self, bytes: &[u8]) {
        // The length separates consecutive values.
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
}
