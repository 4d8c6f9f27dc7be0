//! Types for ids, one for each kind of thing, so that the compiler finds mixed-up ids.

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
    /// Number of a chat in this database. Unlike Telegram's id, it does not change when a group becomes a supergroup.
    ChatKey(u32)
}
id! {
    /// Telegram's id of a message, unique within one [`ChatId`]; negative for an [ephemeral](Self::ephemeral) one.
    MessageId(i64)
}
impl MessageId {
    /// Creates the id of an ephemeral message, which only one member sees. Telegram numbers these apart from other
    /// messages, so here they are negative.
    pub const fn ephemeral(number: i64) -> Self {
        Self(-number)
    }

    /// Returns Telegram's number of an ephemeral message, or `None` for any other message.
    pub fn ephemeral_number(self) -> Option<i64> {
        (self.0 < 0).then_some(-self.0)
    }
}

id! {
    /// Telegram's `message_thread_id` of a forum topic. Messages in the General topic and outside forums have none.
    ForumTopicId(i64)
}
id! {
    /// Telegram's id of a user, or of the chat on whose behalf a message was sent.
    UserId(i64)
}
id! {
    /// Telegram's id of an update. Without updates for a week, Telegram continues at a random number, so ids do not
    /// tell which of two updates of different days is newer.
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
    /// Id of an answer, as shown in log lines, by `/why` and by `chime explain`.
    AnswerId(ulid::Ulid)
}
id! {
    /// Id of a [`Concept`](crate::Concept).
    ConceptId(ulid::Ulid)
}
