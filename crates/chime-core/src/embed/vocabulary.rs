//! Vocabulary of a WordPiece model: splits words into pieces that the model knows.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Error, MapAccess, Visitor};

/// Prefix of the pieces that are not at the start of a word.
const INSIDE: &str = "##";

/// All pieces in one string. It takes 0.5 MB; a `HashMap` of strings would take 4 MB.
#[derive(Debug)]
pub struct Vocabulary {
    /// All pieces, concatenated in the order of their numbers.
    text: String,
    /// Start of each piece in `text`, and the end of the last one.
    starts: Vec<u32>,
    /// The numbers of the pieces, in the order of their bytes.
    sorted: Vec<u32>,
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
        let mut longest = None;
        // The pieces that begin with the bytes so far. The shortest comes first.
        let mut candidates = &self.sorted[..];
        for (at, byte) in prefix.bytes().chain(rest.bytes()).enumerate() {
            let byte_of = |number: &u32| self.piece(*number).get(at).copied();
            candidates = &candidates[candidates.partition_point(|number| byte_of(number) < Some(byte))..];
            candidates = &candidates[..candidates.partition_point(|number| byte_of(number) == Some(byte))];
            let Some(&first) = candidates.first() else { break };
            if at >= prefix.len() && self.piece(first).len() == at + 1 {
                longest = Some((first, at + 1 - prefix.len()));
            }
        }
        longest
    }

    fn piece(&self, number: u32) -> &[u8] {
        let number = number as usize;
        &self.text.as_bytes()[self.starts[number] as usize..self.starts[number + 1] as usize]
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
        let mut vocabulary = Vocabulary { text: String::new(), starts: vec![0], sorted: Vec::new() };
        while let Some((piece, number)) = map.next_entry::<Cow<'de, str>, u32>()? {
            if number as usize != vocabulary.sorted.len() {
                return Err(M::Error::custom("a piece out of order"));
            }
            vocabulary.text.push_str(&piece);
            vocabulary.starts.push(u32::try_from(vocabulary.text.len()).map_err(M::Error::custom)?);
            vocabulary.sorted.push(number);
        }
        let mut sorted = std::mem::take(&mut vocabulary.sorted);
        sorted.sort_unstable_by_key(|number| vocabulary.piece(*number));
        Ok(Vocabulary { sorted, ..vocabulary })
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
