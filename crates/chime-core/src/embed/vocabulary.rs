//! Vocabulary of a WordPiece model: splits words into pieces that the model knows.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;

use serde::Deserialize;
use serde::de::{Error, MapAccess, Visitor};

use crate::{FNV_START, fnv1a};

/// Prefix of the pieces that are not at the start of a word.
const INSIDE: &str = "##";
/// Number of hash table slots per piece. At least half of the slots stay empty, so that lookups are short.
const SLOTS_PER_PIECE: usize = 2;
/// Bloom filter bits per piece. About one in fifteen strings that are no piece passes the filter.
const BITS_PER_PIECE: usize = 14;

/// Largest length of a piece, in bytes.
const MOST_BYTES: usize = 64;

/// All pieces in one string, with a hash table of their numbers. It takes 0.5 MB; a `HashMap` of strings would take 4
/// MB.
#[derive(Debug)]
pub struct Vocabulary {
    /// All pieces, concatenated in the order of their numbers.
    text: String,
    /// Start of each piece in `text`, and the end of the last one.
    starts: Vec<u32>,
    /// Open-addressing hash table with linear probing.
    slots: Vec<Option<HashSlot>>,
    /// Bloom filter with one bit set per piece. Most lookups are for strings that are no piece; the filter rejects them
    /// quickly, because it fits into the processor's cache and the slots do not.
    filter: Vec<u64>,
    longest: usize,
}

/// Slot of the hash table. The lower bits hold the number of a piece plus 1, the upper bits a part of its hash, so that
/// most wrong pieces are recognised without comparing text.
#[derive(Debug, Clone, Copy)]
struct HashSlot(NonZeroU32);

impl HashSlot {
    const NUMBER_BITS: u32 = 20;

    fn new(number: u32, hash: u64) -> Option<Self> {
        let counted = number.checked_add(1).filter(|counted| counted >> Self::NUMBER_BITS == 0)?;
        NonZeroU32::new(counted | Self::mark(hash)).map(Self)
    }

    /// Returns the part of the hash for the upper bits. It uses the highest bits, since the lower ones already select
    /// the slot.
    fn mark(hash: u64) -> u32 {
        ((hash >> 44) as u32) << Self::NUMBER_BITS
    }

    fn number(self) -> u32 {
        (self.0.get() & ((1 << Self::NUMBER_BITS) - 1)) - 1
    }

    fn may_be(self, hash: u64) -> bool {
        self.0.get() >> Self::NUMBER_BITS == Self::mark(hash) >> Self::NUMBER_BITS
    }
}

impl Vocabulary {
    /// Splits a word into pieces from left to right, each as long as possible, and calls `each` with their numbers.
    /// Returns the number of pieces, or `None` if no piece fits at some place; `each` may have been called before.
    pub fn split(&self, word: &str, mut each: impl FnMut(u32)) -> Option<usize> {
        let (mut rest, mut pieces) = (word, 0);
        while !rest.is_empty() {
            let prefix = if pieces == 0 { "" } else { INSIDE };
            let (number, length) = self.longest_at(prefix, rest)?;
            each(number);
            rest = &rest[length..];
            pieces += 1;
        }
        Some(pieces)
    }

    /// Returns the number of the longest piece at the start of `rest`, and its length in bytes without the prefix.
    fn longest_at(&self, prefix: &str, rest: &str) -> Option<(u32, usize)> {
        // The hash is computed byte by byte, so one pass gives the hashes of all lengths.
        let mut hashes = [0; MOST_BYTES];
        let mut hash = fnv1a(FNV_START, prefix.as_bytes());
        for (at, byte) in hashes.iter_mut().zip(rest.bytes()).take(self.longest) {
            hash = fnv1a(hash, &[byte]);
            *at = hash;
        }
        let longest = rest.len().min(self.longest);
        (1..=longest).rev().filter(|end| rest.is_char_boundary(*end)).find_map(|end| {
            let number = self.find(hashes[end - 1], prefix, &rest[..end])?;
            Some((number, end))
        })
    }

    /// Looks up the number of a piece by its hash and text.
    fn find(&self, hash: u64, prefix: &str, piece: &str) -> Option<u32> {
        let (word, bit) = self.filtered(hash);
        if self.filter[word] & bit == 0 {
            return None;
        }
        let mut slot = self.slot(hash);
        loop {
            let found = self.slots[slot]?;
            if found.may_be(hash) && self.piece(found.number()).strip_prefix(prefix) == Some(piece) {
                return Some(found.number());
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// Returns the index of the slot at which the search for a hash begins. The number of slots is a power of two.
    fn slot(&self, hash: u64) -> usize {
        (hash ^ (hash >> 32)) as usize & (self.slots.len() - 1)
    }

    /// Returns the place of a hash in the filter: the index of the 64-bit word, and the bit in it. The number of bits
    /// is a power of two.
    fn filtered(&self, hash: u64) -> (usize, u64) {
        let mixed = (hash ^ (hash >> 29)) as usize;
        ((mixed / 64) & (self.filter.len() - 1), 1 << (mixed % 64))
    }

    fn piece(&self, number: u32) -> &str {
        let at = |number: u32| self.starts.get(number as usize).map_or(0, |start| *start as usize);
        self.text.get(at(number)..at(number + 1)).unwrap_or_default()
    }

    fn index(&mut self) {
        let count = self.starts.len().saturating_sub(1);
        self.slots = vec![None; (count * SLOTS_PER_PIECE).next_power_of_two()];
        self.filter = vec![0; (count * BITS_PER_PIECE).next_power_of_two().div_ceil(64)];
        for number in 0..u32::try_from(count).unwrap_or(0) {
            let hash = fnv1a(FNV_START, self.piece(number).as_bytes());
            let mut slot = self.slot(hash);
            while self.slots[slot].is_some() {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = HashSlot::new(number, hash);
            let (word, bit) = self.filtered(hash);
            self.filter[word] |= bit;
        }
    }
}

impl<'de> Deserialize<'de> for Vocabulary {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder)
    }
}

/// Reads the vocabulary from a JSON object `{"piece": 0, …}` whose entries are in the order of their numbers.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Vocabulary;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("pieces in the order of their numbers")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Vocabulary, M::Error> {
        let mut vocabulary =
            Vocabulary { text: String::new(), starts: vec![0], slots: Vec::new(), filter: vec![0], longest: 0 };
        while let Some((piece, number)) = map.next_entry::<Cow<'de, str>, usize>()? {
            if number + 1 != vocabulary.starts.len() {
                return Err(M::Error::custom("a piece out of order"));
            }
            if piece.len() > MOST_BYTES {
                return Err(M::Error::custom("a piece that is too long"));
            }
            if number >> HashSlot::NUMBER_BITS > 0 {
                return Err(M::Error::custom("too many pieces"));
            }
            vocabulary.text.push_str(&piece);
            vocabulary.starts.push(u32::try_from(vocabulary.text.len()).map_err(M::Error::custom)?);
            vocabulary.longest = vocabulary.longest.max(piece.len());
        }
        vocabulary.text.shrink_to_fit();
        vocabulary.starts.shrink_to_fit();
        vocabulary.index();
        Ok(vocabulary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&[u32]>) {
        let vocabulary: Vocabulary =
            serde_json::from_str(r####"{"play": 0, "##ing": 1, "##s": 2, "é": 3}"####).unwrap();
        let mut numbers = Vec::new();
        let split = vocabulary.split(word, |number| numbers.push(number));
        assert_eq!(split.map(|_| numbers.as_slice()), expected);
    }

    #[test]
    fn a_word_is_split_into_the_longest_pieces() {
        check("play", Some(&[0]));
        check("plays", Some(&[0, 2]));
        check("playings", Some(&[0, 1, 2]));
        check("é", Some(&[3]));
        check("ing", None);
        check("playx", None);
    }

    #[test]
    fn pieces_out_of_order_are_refused() {
        assert!(serde_json::from_str::<Vocabulary>(r#"{"a": 1, "b": 0}"#).is_err());
    }
}
