//! Functions by which one family of tables (tables that belong together, such as answers and their sources) reacts to
//! events that change or delete members' words. The list of all families is in [`derived`](super::derived).

use std::collections::BTreeMap;

use super::sql::{Statements, params};
use super::{Result, Writer};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptOutScope {
    Chat(ChatKey),
    EveryChat,
}

impl OptOutScope {
    /// Returns the chat, or `None` for every chat.
    pub fn chat(self) -> Option<ChatKey> {
        match self {
            Self::Chat(key) => Some(key),
            Self::EveryChat => None,
        }
    }

    /// Returns the chat key that is stored for the scope. 0 stands for every chat, because chat keys start at 1.
    pub(super) fn key(self) -> u32 {
        match self {
            Self::Chat(key) => key.0,
            Self::EveryChat => 0,
        }
    }
}

/// Reason why the text of a message was changed or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Deletion requested by a member.
    Forgotten,
    /// End of the retention period.
    Expired,
    Edited,
}

/// Merge of two chats: the messages of `from` move to `into` under new numbers.
#[derive(Debug, Clone)]
pub struct Merged {
    pub into: ChatKey,
    pub from: ChatKey,
    /// New number of each moved message, by its old number.
    pub seqs: BTreeMap<Seq, Seq>,
}

/// Group of tables with data that was made from messages or has message numbers in its keys, and its reactions to
/// events.
pub struct Family {
    pub tables: &'static [&'static str],
    /// Called before the text of a message is changed or deleted, with the message as it was.
    pub words_gone: fn(&Writer<'_>, &StoredMessage, Cause) -> Result<()>,
    /// Called when a member opts out. Afterwards, data made from the member's words must no longer be read. A job may
    /// delete it later.
    pub opted_out: fn(&Writer<'_>, OptOutScope, UserId) -> Result<()>,
    /// Called when a chat is emptied and its messages up to a time (by this machine's clock) are deleted. Deletes the
    /// chat's other data up to then.
    pub chat_gone: fn(&Writer<'_>, ChatKey, Timestamp) -> Result<()>,
    /// Called when two chats are merged. No data may keep the key of `from`, because SQLite will give that key to a new
    /// chat.
    pub merged: fn(&Writer<'_>, &Merged) -> Result<()>,
}

impl Merged {
    /// Runs a statement for each moved message. It takes the chats as `:into` and `:from`, the numbers as `:now` and
    /// `:was`.
    pub(super) fn renumber(&self, tx: &Writer<'_>, sql: &str) -> Result<()> {
        self.seqs.iter().try_for_each(|(was, now)| {
            tx.run(sql, params! { ":into": self.into, ":from": self.from, ":now": now, ":was": was })
        })
    }
}

impl Family {
    pub const UNTOUCHED: Self = Self {
        tables: &[],
        words_gone: |_, _, _| Ok(()),
        opted_out: |_, _, _| Ok(()),
        chat_gone: |_, _, _| Ok(()),
        merged: |_, _| Ok(()),
    };
}

/// Runs statements on a merge. Each takes the keys of both chats as `:into` and `:from`.
pub(super) fn run_merged(tx: &Writer<'_>, chats: &Merged, statements: &[&str]) -> Result<()> {
    for sql in statements {
        tx.run(sql, params! { ":into": chats.into, ":from": chats.from })?;
    }
    Ok(())
}
