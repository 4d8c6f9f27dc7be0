//! Ids as newtypes, so that ids of different things cannot be mixed up.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// Telegram's id of a chat: positive for private chats, `-…` for basic groups, `-100…` for supergroups or channels.
    ChatId(i64)
}
id! {
    /// Internal number of a chat. Unlike Telegram's id, it survives the migration to a supergroup.
    ChatKey(u32)
}
id! {
    /// Telegram's id of a message, unique within one [`ChatId`].
    MessageId(i64)
}
id! {
    /// Telegram's `message_thread_id` of a forum topic. Plain reply threads and the General topic have none.
    ThreadId(i64)
}
id! {
    /// Telegram's id of a user, or of the chat on whose behalf a message was sent.
    UserId(i64)
}
id! {
    /// Telegram's id of an update. Restarts at a random number after a quiet week, so it does not order updates of
    /// different days.
    UpdateId(i64)
}
id! {
    /// Number of a message within its chat, counted from 1. The model sees it as `m17`.
    Seq(u32)
}
id! {
    /// Row id in the job table.
    JobId(i64)
}
id! {
    /// Id of an answer in its row, log lines, `/why` and `chime explain`.
    AnswerId(ulid::Ulid)
}
id! {
    /// Id of a named thing that a chat talks about.
    ConceptId(ulid::Ulid)
}
