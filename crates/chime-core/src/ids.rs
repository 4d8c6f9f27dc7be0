//! Ids as newtypes: a chat's id can never be passed where a message's is meant.

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
    /// Telegram's id of a chat: positive for private chats, `-…` for basic groups, `-100…` for supergroups and channels.
    ChatId(i64)
}
id! {
    /// Our own number for a chat. Survives a migration to a supergroup, when Telegram's id changes.
    ChatKey(u32)
}
id! {
    /// Telegram's id of a message, unique within one [`ChatId`].
    MessageId(i64)
}
id! {
    /// A forum topic inside a chat. Plain reply threads and General have none.
    ThreadId(i64)
}
id! {
    /// Telegram's id of a user, or of the chat in whose name somebody writes.
    UserId(i64)
}
id! {
    /// Telegram's id of an update. Restarts at random after a quiet week, so never an ordering across days.
    UpdateId(i64)
}
id! {
    /// Our number of a message within its chat, counted from 1: what the model sees as `m17`.
    Seq(u32)
}
id! {
    /// A row of the job table.
    JobId(i64)
}
id! {
    /// One answer, in its row, its log lines, `/why` and `chime explain`.
    AnswerId(ulid::Ulid)
}
id! {
    /// A named thing that a chat talks about.
    ConceptId(ulid::Ulid)
}
