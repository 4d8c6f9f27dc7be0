//! Marks of messages: what was worked out about a message is good for as long as its mark is the same.

use rusqlite::types::ValueRef;
use rusqlite::{Row, Statement};

use chime_core::{ChatId, MessageId};

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
