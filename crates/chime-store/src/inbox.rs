//! Ids of the updates received from Telegram, why some could not be processed, and the offset for the next poll. All are
//! stored in one transaction.

use std::time::Duration;

use super::family::Family;
use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{Timestamp, UpdateId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received<'a> {
    pub id: UpdateId,
    pub kind: &'a str,
    pub at: Timestamp,
    /// Reason why the update could not be processed, or `None`. An update with an error is stored as parked.
    pub error: Option<&'a str>,
}

/// Returns `true` if an update with this id was stored on the day of `at` or the day before. Older ones do not count,
/// because after a week without updates Telegram continues with a random id.
pub fn is_known(conn: &Reader, id: UpdateId, at: Timestamp) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM inbox
         WHERE update_id = :id AND received_day BETWEEN :day - 1 AND :day) AS known",
        params! { ":id": id, ":day": at.day() },
    )
}

pub fn add(tx: &Writer<'_>, update: &Received<'_>) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO inbox (update_id, received_day, kind, state, error)
         VALUES (:id, :day, :kind, :state, :error)",
        params! {
            ":id": update.id, ":day": update.at.day(), ":kind": update.kind,
            ":state": if update.error.is_some() { "parked" } else { "done" }, ":error": update.error,
        },
    )
}

pub(super) const FAMILY: Family = Family { tables: &["inbox"], ..Family::UNTOUCHED };

/// Returns the offset for the next poll. Returns `None` at the first start, and if the last update is older than
/// `max_age`: after a week without updates Telegram continues with a random id, so the stored offset is useless.
pub fn next_offset(conn: &Reader, now: Timestamp, max_age: Duration) -> Result<Option<i64>> {
    let state: Option<(i64, Timestamp)> =
        conn.first("SELECT next_offset, updated_at FROM poll_state WHERE id = 1", &[])?;
    Ok(state.filter(|(_, at)| now.since(*at) <= max_age).map(|(offset, _)| offset))
}

pub fn last_stored_at(conn: &Reader) -> Result<Option<Timestamp>> {
    conn.first("SELECT updated_at FROM poll_state WHERE id = 1", &[])
}

pub fn set_next_offset(tx: &Writer<'_>, offset: i64, now: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO poll_state (id, next_offset, updated_at) VALUES (1, :offset, :now)
         ON CONFLICT (id) DO UPDATE SET next_offset = excluded.next_offset, updated_at = excluded.updated_at",
        params! { ":offset": offset, ":now": now },
    )
}

/// Returns the number of all updates of which the id is stored, and the number of parked ones.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    conn.one("SELECT count(*) AS total, count(*) FILTER (WHERE state = 'parked') AS parked FROM inbox", &[])
}

/// Deletes the ids of at most `limit` updates received before the day of `before`, and returns their number. Messages
/// stored from these updates stay.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM inbox WHERE (update_id, received_day) IN
         (SELECT update_id, received_day FROM inbox WHERE received_day < :day LIMIT :limit)",
        params! { ":day": before.day(), ":limit": limit },
    )
}
