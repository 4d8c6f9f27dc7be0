//! What rests on messages: one entry per family of tables, in one list.
//!
//! Members' words end in many tables beside the message's own row. They leave them in five ways: a message is forgotten on
//! request, expires, or is edited; its author opts out; a chat is emptied; two chats become one. Whoever does one of these
//! goes through `FAMILIES`, so that nobody has to know all tables.
//!
//! # How a new table joins
//! 1. In the table's own file of this room, declare `pub(super) const FAMILY: Family`, naming the table in `tables` and
//!    giving the functions that apply; the others come from [`Family::UNTOUCHED`]. Each function runs in the transaction of
//!    the deed and must be bounded by an index: no scan of a whole table.
//! 2. Add the family to `FAMILIES`. A test compares the schema with the list, and fails for a table that is in neither
//!    `FAMILIES` nor `NOT_DERIVED`.
//! 3. Put a marker into `what_was_forgotten_is_in_no_byte_of_any_file` (`tests/e2e/privacy.rs`) that reaches the table.
//!
//! What is made of several messages (a summary, a concept) keeps which ones in a table of its own, as `answer_use` does, and
//! goes as soon as one of them goes. What is to be made anew is noted there and then, and made by a job.

use std::collections::BTreeMap;

use super::consent::Scope;
use super::{
    Result, Writer, admission, answers, backlog, borrowings, chats, concepts, consent, deletions, feedback, follow_ups,
    inbox, memory, notes, outbox, recaps, refusals, spaces, topic_names, usage, vectors,
};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

/// Why the words of a message are no longer what they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Somebody asked for it.
    Forgotten,
    /// They were kept long enough.
    Expired,
    /// Others took their place.
    Edited,
}

/// Two chats became one: the messages of `from` go on in `into` under other numbers.
#[derive(Debug, Clone)]
pub struct Merged {
    pub into: ChatKey,
    pub from: ChatKey,
    /// Old numbers and new ones.
    pub seqs: BTreeMap<Seq, Seq>,
}

/// Tables that hold something made of messages, or numbered by them, and what becomes of it.
pub struct Family {
    pub tables: &'static [&'static str],
    /// The words of a message are gone or others, as `Cause` says. The message is given as it was.
    pub words_gone: fn(&Writer<'_>, &StoredMessage, Cause) -> Result<()>,
    /// A member opted out: when this returns, nothing that was made of their words is read any more. Deleting it may be left
    /// to a job.
    pub opted_out: fn(&Writer<'_>, Scope, UserId) -> Result<()>,
    /// The messages of a chat are gone up to a moment (of this machine's clock), and so goes the rest.
    pub chat_gone: fn(&Writer<'_>, ChatKey, Timestamp) -> Result<()>,
    /// Nothing may stay under the number of the chat that ended: SQLite gives it out again.
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

/// Every family. The order is that in which they are called.
const FAMILIES: &[Family] = &[
    notes::FAMILY,
    feedback::FAMILY,
    answers::FAMILY,
    follow_ups::FAMILY,
    concepts::FAMILY,
    outbox::FAMILY,
    borrowings::FAMILY,
    inbox::FAMILY,
    consent::FAMILY,
    spaces::FAMILY,
    vectors::FAMILY,
    memory::FAMILY,
    recaps::FAMILY,
    usage::FAMILY,
    refusals::FAMILY,
    backlog::FAMILY,
    admission::FAMILY,
    deletions::FAMILY,
    topic_names::FAMILY,
    chats::FAMILY,
];

/// Tables that hold nothing of members' words and no number of a message or chat of ours; and the messages themselves.
#[cfg(test)]
const NOT_DERIVED: &[&str] = &[
    "message",
    "message_fts",
    "message_part_fts",
    "owner",
    "poll_state",
    "job",
    "press",
    "reply_stream",
    "scrub",
    "token_calibration",
    "tool_refusal",
];

pub fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.words_gone)(tx, stored, cause))
}

pub fn opted_out(tx: &Writer<'_>, scope: Scope, user: UserId) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.opted_out)(tx, scope, user))
}

pub fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.chat_gone)(tx, chat, until))
}

pub fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.merged)(tx, chats))
}

/// Runs statements that all take the numbers of both chats.
pub(super) fn run_merged(tx: &Writer<'_>, chats: &Merged, statements: &[&str]) -> Result<()> {
    for sql in statements {
        tx.prepare_cached(sql)?.execute(rusqlite::named_params! { ":into": chats.into.0, ":from": chats.from.0 })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;

    #[tokio::test]
    async fn every_table_says_what_becomes_of_it() {
        let (_folder, store) = new_store().await;
        let tables: Vec<String> = store
            .read(|conn| {
                let mut statement = conn.prepare(
                    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                         AND name NOT LIKE '%!_fts!_%' ESCAPE '!' ORDER BY name",
                )?;
                Ok(statement.query_map([], |raw| raw.get("name"))?.collect::<rusqlite::Result<_>>()?)
            })
            .await
            .unwrap();
        let said = || FAMILIES.iter().flat_map(|family| family.tables).chain(NOT_DERIVED);
        for table in &tables {
            let times = said().filter(|name| *name == table).count();
            assert_eq!(times, 1, "{table} is in {times} places of FAMILIES and NOT_DERIVED");
        }
        for name in said() {
            assert!(tables.iter().any(|table| table == name), "there is no table {name}");
        }
    }
}
