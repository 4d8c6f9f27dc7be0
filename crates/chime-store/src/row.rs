//! Rowids of messages, and keys of threads.

use chime_core::{ChatKey, ForumTopicId, Seq};

/// Returns the rowid of a message, which is also the rowid of its vectors. The rowids of a chat's messages form one
/// range.
pub fn row_id(chat: ChatKey, seq: Seq) -> i64 {
    i64::from(chat.0) << 32 | i64::from(seq.0)
}

/// Returns the message number that a rowid contains.
pub fn seq_of(id: i64) -> Seq {
    Seq(u32::try_from(id & i64::from(u32::MAX)).unwrap_or(u32::MAX))
}

/// Returns the key of a forum topic for primary keys, which cannot contain NULL. The main conversation has the key 0.
pub fn forum_topic_key(forum_topic: Option<ForumTopicId>) -> i64 {
    forum_topic.map_or(0, |id| id.0)
}

pub fn forum_topic_of(key: i64) -> Option<ForumTopicId> {
    (key != 0).then_some(ForumTopicId(key))
}
