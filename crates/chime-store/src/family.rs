//! Reactions of one family of tables to the events that affect members' words. The list of all families is in
//! [`derived`](super::derived).

use std::collections::BTreeMap;

use super::{Result, Writer};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

/// Chats that an opt-out applies to.
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

    /// Returns the stored key. 0 stands for every chat; chat keys start at 1.
    pub(super) fn key(self) -> u32 {
        match self {
            Self::Chat(key) => key.0,
            Self::EveryChat => 0,
        }
    }
}

/// Reason why the text of a message changed or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Deleted on request.
    Forgotten,
    /// Retention period ended.
    Expired,
    Edited,
}

/// Merge of two chats: the messages of `from` move to `into` under new numbers.
#[derive(Debug, Clone)]
pub struct Merged {
    pub into: ChatKey,
    pub from: ChatKey,
    /// New numbers by old number.
    pub seqs: BTreeMap<Seq, Seq>,
}

/// Tables that hold data made from messages or keyed by message number, and their reactions to events.
pub struct Family {
    pub tables: &'static [&'static str],
    /// Called when the text of a message is gone or changed. Gets the message as it was before.
    pub words_gone: fn(&Writer<'_>, &StoredMessage, Cause) -> Result<()>,
    /// Called when a member opts out. When it returns, data made from their words is no longer read. A job may delete
    /// it later.
    pub opted_out: fn(&Writer<'_>, OptOutScope, UserId) -> Result<()>,
    /// Called when the messages of a chat up to a time (by this machine's clock) are gone, to delete the rest.
    pub chat_gone: fn(&Writer<'_>, ChatKey, Timestamp) -> Result<()>,
    /// Called on a merge. Nothing may stay under the key of `from`: SQLite uses the key again.
    pub merged: fn(&Writer<'_>, &Merged) -> Result<()>,
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

/// Runs statements that all take the keys of both chats.
pub(super) fn run_merged(tx: &Writer<'_>, chats: &Merged, statements: &[&str]) -> Result<()> {
    for sql in statements {
        tx.prepare_cached(sql)?.execute(rusqlite::named_params! { ":into": chats.into.0, ":from": chats.from.0 })?;
    }
    Ok(())
}
