//! Vocabulary of a WordPiece model: splits words into pieces that the model knows.

use std::borrow::Cow;
use std::fmt;

use hashbrown::HashTable;
use serde::Deserialize;
use serde::de::{Error, MapAccess, Visitor};

use crate::{FNV_START, fnv1a};

/// Prefix of the pieces that are not at the start of a word.
const INSIDE: &str = "##";

/// All pieces in one string, with a hash table of their numbers. It takes 1 MB; a `HashMap` of strings would take 4 MB.
#[derive(Debug)]
pub struct Vocabulary {
    /// All pieces, concatenated in the order of their numbers.
    text: String,
    /// Start of each piece in `text`, and the end of the last one.
    starts: Vec<u32>,
    numbers: HashTable<u32>,
    /// Length of the longest piece, in bytes.
    longest: usize,
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
        let ends = (1..=rest.len().min(self.longest)).rev().filter(|end| rest.is_char_boundary(*end));
        ends.map(|end| (prefix, &rest[..end])).find_map(|(prefix, piece)| {
            let hash = fnv1a(fnv1a(FNV_START, prefix.as_bytes()), piece.as_bytes());
            let is_piece = |number: &u32| self.piece(*number).strip_prefix(prefix) == Some(piece);
            Some((*self.numbers.find(hash, is_piece)?, piece.len()))
        })
    }

    fn piece(&self, number: u32) -> &str {
        piece(&self.text, &self.starts, number)
    }
}

fn piece<'text>(text: &'text str, starts: &[u32], number: u32) -> &'text str {
    let number = number as usize;
    &text[starts[number] as usize..starts[number + 1] as usize]
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
        let (mut text, mut starts, mut longest) = (String::new(), vec![0], 0);
        while let Some((piece, number)) = map.next_entry::<Cow<'de, str>, usize>()? {
            if number + 1 != starts.len() {
                return Err(M::Error::custom("a piece out of order"));
            }
            text.push_str(&piece);
            starts.push(u32::try_from(text.len()).map_err(M::Error::custom)?);
            longest = longest.max(piece.len());
        }
        let count = u32::try_from(starts.len() - 1).map_err(M::Error::custom)?;
        let mut numbers = HashTable::with_capacity(starts.len());
        let hash = |number: &u32| fnv1a(FNV_START, piece(&text, &starts, *number).as_bytes());
        for number in 0..count {
            numbers.insert_unique(hash(&number), number, hash);
        }
        Ok(Vocabulary { text, starts, numbers, longest })
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
