//! Definition of the stored vectors: embedding spaces, tables of vectors, and the parts into which their indexes are
//! divided.

use super::row::row_id;
use chime_core::{ChatKey, Seq};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub id: i64,
    pub model: String,
    pub dimension: usize,
    pub state: SpaceState,
    /// `true` if the index is complete, so that searches can use it.
    pub is_indexed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceState {
    /// Vectors are still being made, and another space is searched.
    Filling,
    /// The space that is searched.
    Active,
    /// Replaced by another space, and being deleted.
    Left,
}

chime_core::words!(SpaceState { Filling = "filling", Active = "active", Left = "left" });

#[derive(Debug, Clone, Copy)]
pub struct VectorTable {
    pub name: &'static str,
    /// Column with the document id: `chat_key << 32 | number`.
    pub key: &'static str,
    /// Number of low bits of a document id that differ within one part of the index. A search reads whole parts.
    pub(super) part_bits: u32,
    /// Number of parts of a chat that are searched, newest first. Older messages are found through the summaries of
    /// their sessions instead.
    searched: usize,
}

/// Table of message vectors. A new kind of document needs a table with the columns key, space and vector, and an entry
/// in [`TABLES`].
pub const MESSAGES: VectorTable = VectorTable { name: "message_vector", key: "id", part_bits: 12, searched: 4 };
pub const SUMMARIES: VectorTable =
    VectorTable { name: "summary_vector", key: "session_id", part_bits: 15, searched: 128 };
pub const TABLES: [VectorTable; 2] = [MESSAGES, SUMMARIES];

/// Tenths of a vector's values that are indexed, from the front. Searching less data is faster, and models put the most
/// significant values first.
const TENTHS: usize = 6;
/// Minimum number of values that are indexed: fewer would not distinguish documents well.
const LEAST_VALUES: usize = 64;
/// Returns the number of values of each vector that the index of a space contains.
pub(super) fn indexed_values(space: &Space) -> usize {
    (space.dimension * TENTHS / 10).max(LEAST_VALUES.min(space.dimension))
}

impl VectorTable {
    pub(super) fn index(self, space: i64) -> String {
        format!("vec_{space}_{}", self.name)
    }

    /// Returns the lowest document id that belongs to a part.
    pub(super) fn first_of(self, part: i64) -> i64 {
        part << self.part_bits
    }

    /// Returns the index parts of a chat that are searched, newest first. `newest` is the number of its newest
    /// document.
    pub(super) fn parts(self, chat: ChatKey, newest: Seq) -> impl Iterator<Item = i64> {
        let (first, last) = (row_id(chat, Seq(0)) >> self.part_bits, row_id(chat, newest) >> self.part_bits);
        (first..=last).rev().take(self.searched)
    }
}
