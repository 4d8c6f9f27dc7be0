//! Definition of the stored vectors: their space, their tables, and the parts into which the indexes are divided.

use super::row::row_id;
use chime_core::{ChatKey, Seq};

/// Model and dimension of the stored vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    pub model: String,
    pub dimension: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct VectorTable {
    pub name: &'static str,
    /// Column with the document id: `chat_key << 32 | number`.
    pub key: &'static str,
    /// Number of low bits of a document id that differ within one part of the index. A search reads whole parts.
    pub(super) part_bits: u32,
    /// Number of parts of a chat that are searched, newest first. Older messages are found through the summaries of
    /// their sessions instead.
    searched: i64,
}

/// Table of message vectors. A new kind of document needs a table with the columns key and vector, and an entry in
/// [`TABLES`].
pub const MESSAGES: VectorTable = VectorTable { name: "message_vector", key: "id", part_bits: 12, searched: 4 };
/// Table of summary vectors. A part is a chat.
pub const SUMMARIES: VectorTable =
    VectorTable { name: "summary_vector", key: "session_id", part_bits: 32, searched: 1 };
pub const TABLES: [VectorTable; 2] = [MESSAGES, SUMMARIES];

impl VectorTable {
    pub(super) fn index(self) -> String {
        format!("vec_{}", self.name)
    }

    /// Returns the first and the last index part of a chat that are searched. `newest` is the number of its newest
    /// document.
    pub(super) fn parts(self, chat: ChatKey, newest: Seq) -> (i64, i64) {
        let (first, last) = (row_id(chat, Seq(0)) >> self.part_bits, row_id(chat, newest) >> self.part_bits);
        (first.max(last + 1 - self.searched), last)
    }
}
