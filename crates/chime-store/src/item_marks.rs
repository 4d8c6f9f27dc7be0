//! Marks on tasks and questions: done, or opened again by a member. They contain no words of members.

use std::collections::BTreeMap;

use super::family::{Cause, Family};
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, SessionId, Timestamp};

pub(super) const FAMILY: Family = Family {
    tables: &["item_mark"],
    // Only the marks that members made are left by then: the others were deleted with their sessions.
    moved: &[("item_mark", Some("seq"))],
    words_gone: |tx, stored, cause| match cause {
        Cause::Edited => Ok(()),
        Cause::Forgotten | Cause::Expired => tx.run(
            "DELETE FROM item_mark WHERE chat_key = :chat AND seq = :seq",
            params! { ":chat": stored.chat, ":seq": stored.seq },
        ),
    },
    chat_gone: |tx, chat, _| tx.run("DELETE FROM item_mark WHERE chat_key = :chat", params! { ":chat": chat }),
    ..Family::UNTOUCHED
};

/// Records the items that the messages of a session show to be done, and removes earlier records of the session.
/// A member's mark stays.
pub fn close(tx: &Writer<'_>, session: SessionId, items: &[Seq], at: Timestamp) -> Result<()> {
    tx.run("DELETE FROM item_mark WHERE session_id = :session", params! { ":session": session })?;
    for item in items {
        tx.run(
            "INSERT OR IGNORE INTO item_mark (chat_key, seq, is_done, marked_at, session_id)
             VALUES (:chat, :seq, 1, :at, :session)",
            params! { ":chat": session.chat, ":seq": item, ":at": at, ":session": session },
        )?;
    }
    Ok(())
}

/// Returns the sessions whose summary says that an item is done, and so may repeat its words.
pub fn closed_in(conn: &Reader, chat: ChatKey, item: Seq) -> Result<Vec<SessionId>> {
    conn.all(
        "SELECT session_id FROM item_mark WHERE chat_key = :chat AND seq = :seq AND session_id IS NOT NULL",
        params! { ":chat": chat, ":seq": item },
    )
}

/// Records that a member marked an item as done, or opened it again. Does nothing if its message is not stored.
pub fn mark(tx: &Writer<'_>, chat: ChatKey, item: Seq, is_done: bool, at: Timestamp) -> Result<()> {
    tx.run(
        "INSERT OR REPLACE INTO item_mark (chat_key, seq, is_done, marked_at, session_id)
         SELECT :chat, :seq, :done, :at, NULL WHERE EXISTS (SELECT 1 FROM message WHERE chat_key = :chat AND seq = :seq)",
        params! { ":chat": chat, ":seq": item, ":done": is_done, ":at": at },
    )
}

/// Returns the items of a chat that are done, each with the time, except those marked by the session `but`.
pub fn done(conn: &Reader, chat: ChatKey, but: Option<SessionId>) -> Result<BTreeMap<Seq, Timestamp>> {
    let rows: Vec<(Seq, Timestamp)> = conn.all(
        "SELECT seq, marked_at FROM item_mark
         WHERE chat_key = :chat AND is_done = 1 AND (:but IS NULL OR session_id IS NOT :but)",
        params! { ":chat": chat, ":but": but },
    )?;
    Ok(rows.into_iter().collect())
}
