//! Data derived from messages: one list with an entry for each family of tables.
//!
//! Members' words end up in many tables, which these events affect: a message is forgotten on request, expires,
//! or is edited; its author opts out; a chat is emptied; two chats are merged. The code for each event goes through
//! `FAMILIES`, so that it need not know all tables.
//!
//! # Adding a table
//! 1. In the table's own file, declare `pub(super) const FAMILY: Family`, with the table in `tables`, in `moved` if it
//!    has keys of chats, and the functions that apply; take the others from [`Family::UNTOUCHED`]. Each function runs in
//!    the transaction of the event and must use an index: no full table scan.
//! 2. Add the family to `FAMILIES`. A test compares the schema with the list, and fails for a table that is in neither
//!    `FAMILIES` nor `NOT_DERIVED`.
//! 3. Put a marker into `what_was_forgotten_is_in_no_byte_of_any_file` (`tests/e2e/privacy.rs`) that reaches the table.
//!
//! Data made from several messages (an answer, a concept) records them in a table of its own, as `answer_use` does, and
//! is deleted as soon as one of the messages is. A session and its summary are found by the time of the message. A
//! rebuild is scheduled in the same transaction and done by a job.

use super::family::{Cause, Family, Merged, OptOutScope};
use super::{
    Result, Writer, admission, answers, backlog, chat_settings, chats, concepts, consent, deletions, feedback,
    follow_ups, inbox, item_marks, memory, notes, outbox, pages, quotes_and_forwards, recaps, refusals, reminders,
    topic_names, usage, vectors,
};
use chime_core::{ChatKey, StoredMessage, Timestamp, UserId};

/// All families. Their functions are called in this order.
const FAMILIES: &[Family] = &[
    notes::FAMILY,
    pages::FAMILY,
    feedback::FAMILY,
    answers::FAMILY,
    follow_ups::FAMILY,
    concepts::FAMILY,
    outbox::FAMILY,
    quotes_and_forwards::FAMILY,
    inbox::FAMILY,
    consent::FAMILY,
    vectors::FAMILY,
    memory::FAMILY,
    item_marks::FAMILY,
    recaps::FAMILY,
    reminders::FAMILY,
    usage::FAMILY,
    refusals::FAMILY,
    backlog::FAMILY,
    admission::FAMILY,
    deletions::FAMILY,
    topic_names::FAMILY,
    chat_settings::FAMILY,
    chats::FAMILY,
];

/// Tables that need no family: they contain no words of members and no keys of messages or chats, or they are the
/// message tables themselves.
#[cfg(test)]
const NOT_DERIVED: &[&str] = &[
    "message",
    "message_fts",
    "message_part_fts",
    "backup_folder",
    "command_menu",
    "owner",
    "poll_state",
    "job",
    "press",
    "recent_control",
    "reply_stream",
    "scrub",
    "token_calibration",
    "tool_refusal",
    "vector_space",
];

pub fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.words_gone)(tx, stored, cause))
}

pub fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.opted_out)(tx, scope, user))
}

pub fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| (family.chat_gone)(tx, chat, until))
}

pub fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    FAMILIES.iter().try_for_each(|family| family.merge(tx, chats))
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
