//! Functions by which one family of tables (tables that belong together, such as answers and their sources) reacts to
//! events that change or delete members' words. The list of all families is in [`derived`](super::derived).

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

/// Merge of two chats: the messages of `from` move to `into`, where their numbers are higher by `shift`.
#[derive(Debug, Clone, Copy)]
pub struct Merged {
    pub into: ChatKey,
    pub from: ChatKey,
    /// Multiple of the block size of `answer_use`, above all numbers used in `into`.
    pub shift: u32,
}

/// Group of tables with data that was made from messages or has message numbers in its keys, and its reactions to
/// events.
pub struct Family {
    pub tables: &'static [&'static str],
    /// Tables whose rows move to the remaining chat when two chats are merged, each with its column of message numbers.
    /// A row for which the remaining chat has one already is deleted.
    pub moved: &'static [(&'static str, Option<&'static str>)],
    /// Called before the text of a message is changed or deleted, with the message as it was.
    pub words_gone: fn(&Writer<'_>, &StoredMessage, Cause) -> Result<()>,
    /// Called when a member opts out. Afterwards, data made from the member's words must no longer be read. A job may
    /// delete it later.
    pub opted_out: fn(&Writer<'_>, OptOutScope, UserId) -> Result<()>,
    /// Called when a chat is emptied and its messages up to a time (by this machine's clock) are deleted. Deletes the
    /// chat's other data up to then.
    pub chat_gone: fn(&Writer<'_>, ChatKey, Timestamp) -> Result<()>,
    /// Called when two chats are merged, before the rows of `moved`. No data may keep the key of `from`, because SQLite
    /// will give that key to a new chat.
    pub merged: fn(&Writer<'_>, Merged) -> Result<()>,
}

impl Merged {
    /// Runs a statement that uses all of `:into` and `:from`, the keys of the two chats, and `:shift`.
    pub(super) fn run(self, tx: &Writer<'_>, sql: &str) -> Result<()> {
        tx.run(sql, params! { ":into": self.into, ":from": self.from, ":shift": self.shift })
    }

    /// Returns the new number of a moved message.
    pub(super) fn number(self, was: Seq) -> Seq {
        Seq(was.0 + self.shift)
    }
}

impl Family {
    pub const UNTOUCHED: Self = Self {
        tables: &[],
        moved: &[],
        words_gone: |_, _, _| Ok(()),
        opted_out: |_, _, _| Ok(()),
        chat_gone: |_, _, _| Ok(()),
        merged: |_, _| Ok(()),
    };

    pub(super) fn merge(&self, tx: &Writer<'_>, chats: Merged) -> Result<()> {
        (self.merged)(tx, chats)?;
        for (table, seq) in self.moved {
            let moved = format!("UPDATE OR IGNORE {table} SET chat_key = :into");
            match seq {
                Some(seq) => chats.run(tx, &format!("{moved}, {seq} = {seq} + :shift WHERE chat_key = :from"))?,
                None => tx.run(
                    &format!("{moved} WHERE chat_key = :from"),
                    params! { ":into": chats.into, ":from": chats.from },
                )?,
            }
            tx.run(&format!("DELETE FROM {table} WHERE chat_key = :from"), params! { ":from": chats.from })?;
        }
        Ok(())
    }
}
