//! Rowids of messages.

use chime_core::{ChatKey, Seq};

/// Returns the rowid of a message, which also identifies its vectors. The rowids of a chat's messages form one range.
pub fn row_id(chat: ChatKey, seq: Seq) -> i64 {
    i64::from(chat.0) << 32 | i64::from(seq.0)
}

/// Returns the message number that a rowid contains.
pub fn seq_of(id: i64) -> Seq {
    Seq(u32::try_from(id & i64::from(u32::MAX)).unwrap_or(u32::MAX))
}
