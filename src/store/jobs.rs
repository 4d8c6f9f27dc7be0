//! The job table: the truth about what is to be done. Notifications only wake workers up.

use rusqlite::{OptionalExtension, Row, named_params};

use super::{Reader, Result, Writer, row};
use crate::domain::{ChatId, Job, JobId, JobKind, Timestamp};

const COLUMNS: &str = "id, kind, key, lane, due_at, attempts";

/// Adds a job unless one of this kind and key is or was there: the same trigger twice is one job.
/// Gives whether it is new.
pub fn add(tx: &Writer<'_>, kind: JobKind, key: &str, lane: i64, due_at: Timestamp) -> Result<bool> {
    let added = tx
        .prepare_cached(
            "INSERT INTO job (kind, key, lane, due_at, state) VALUES (:kind, :key, :lane, :due_at, 'due')
             ON CONFLICT (kind, key) DO NOTHING",
        )?
        .execute(named_params! { ":kind": kind.as_str(), ":key": key, ":lane": lane, ":due_at": due_at.millis() })?;
    Ok(added == 1)
}

/// Adds a job, or moves the one that is there to `due_at` and makes it due again.
pub fn add_or_move(tx: &Writer<'_>, kind: JobKind, key: &str, lane: i64, due_at: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO job (kind, key, lane, due_at, state) VALUES (:kind, :key, :lane, :due_at, 'due')
         ON CONFLICT (kind, key) DO UPDATE
         SET due_at = excluded.due_at, state = 'due', attempts = 0, last_error = NULL",
    )?
    .execute(named_params! { ":kind": kind.as_str(), ":key": key, ":lane": lane, ":due_at": due_at.millis() })?;
    Ok(())
}

/// Adds a job, or makes one that has ended due again. One that waits keeps its moment.
pub fn add_unless_due(tx: &Writer<'_>, kind: JobKind, key: &str, lane: i64, due_at: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO job (kind, key, lane, due_at, state) VALUES (:kind, :key, :lane, :due_at, 'due')
         ON CONFLICT (kind, key) DO UPDATE
         SET due_at = excluded.due_at, state = 'due', attempts = 0, last_error = NULL WHERE job.state <> 'due'",
    )?
    .execute(named_params! { ":kind": kind.as_str(), ":key": key, ":lane": lane, ":due_at": due_at.millis() })?;
    Ok(())
}

/// Jobs that are due at `now`, oldest first: at most `per_lane` of a kind and lane, so that a crowded chat hides nobody.
pub fn due(conn: &Reader, now: Timestamp, per_lane: usize, limit: u32) -> Result<Vec<Job>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM (
             SELECT {COLUMNS}, row_number() OVER (PARTITION BY kind, lane ORDER BY due_at, id) AS place
             FROM job WHERE state = 'due' AND due_at <= :now)
         WHERE place <= :per_lane ORDER BY due_at, id LIMIT :limit"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let params = named_params! {
        ":now": now.millis(), ":per_lane": i64::try_from(per_lane).unwrap_or(i64::MAX), ":limit": limit,
    };
    let rows = statement.query_map(params, |raw| Ok(from_row(raw)))?;
    rows.map(|row| row?).collect()
}

/// When the next job after `now` falls due.
pub fn next_due(conn: &Reader, now: Timestamp) -> Result<Option<Timestamp>> {
    let at: Option<i64> = conn
        .prepare_cached("SELECT min(due_at) AS at FROM job WHERE state = 'due' AND due_at > :now")?
        .query_row(named_params! { ":now": now.millis() }, |raw| raw.get("at"))
        .optional()?
        .flatten();
    Ok(at.map(Timestamp::from_millis))
}

/// Marks a job done. Its row stays, so that the same trigger is never worked on again.
pub fn finish(tx: &Writer<'_>, kind: JobKind, key: &str) -> Result<()> {
    tx.prepare_cached("UPDATE job SET state = 'done', last_error = NULL WHERE kind = :kind AND key = :key")?
        .execute(named_params! { ":kind": kind.as_str(), ":key": key })?;
    Ok(())
}

/// Writes down a failed attempt and when to try again.
pub fn retry(tx: &Writer<'_>, id: JobId, at: Timestamp, error: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE job SET state = 'due', due_at = :at, attempts = attempts + 1, last_error = :error WHERE id = :id",
    )?
    .execute(named_params! { ":id": id.0, ":at": at.millis(), ":error": error })?;
    Ok(())
}

/// Makes a job due later without counting an attempt: it did not fail, it waits.
pub fn postpone(tx: &Writer<'_>, id: JobId, at: Timestamp) -> Result<()> {
    tx.prepare_cached("UPDATE job SET state = 'due', due_at = :at WHERE id = :id")?
        .execute(named_params! { ":id": id.0, ":at": at.millis() })?;
    Ok(())
}

/// Puts a job aside for good; `chime check` shows it.
pub fn park(tx: &Writer<'_>, id: JobId, error: &str) -> Result<()> {
    tx.prepare_cached("UPDATE job SET state = 'parked', attempts = attempts + 1, last_error = :error WHERE id = :id")?
        .execute(named_params! { ":id": id.0, ":error": error })?;
    Ok(())
}

/// Ends what was still to be said in a chat that the bot is no longer in.
pub fn end_all_of(tx: &Writer<'_>, chat: ChatId) -> Result<()> {
    tx.prepare_cached(
        "UPDATE job SET state = 'done' WHERE lane = :chat AND state = 'due'
             AND kind IN ('answer', 'command', 'send', 'backlog', 'announce', 'leave')",
    )?
    .execute(named_params! { ":chat": chat.0 })?;
    Ok(())
}

/// Counts an attempt for every job that was due before the process started: it may have died while at one of them.
pub fn recover(tx: &Writer<'_>, now: Timestamp) -> Result<usize> {
    Ok(tx
        .prepare_cached("UPDATE job SET attempts = attempts + 1 WHERE state = 'due' AND due_at <= :now")?
        .execute(named_params! { ":now": now.millis() })?)
}

/// Jobs not done yet, and jobs put aside. The one that never ends is not counted.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    Ok(conn.query_row(
        "SELECT count(*) FILTER (WHERE state = 'due' AND kind <> 'retention') AS open,
                count(*) FILTER (WHERE state = 'parked') AS parked FROM job",
        [],
        |raw| Ok((raw.get("open")?, raw.get("parked")?)),
    )?)
}

fn from_row(raw: &Row<'_>) -> Result<Job> {
    let kind: String = row::get(raw, "kind")?;
    Ok(Job {
        id: JobId(row::get(raw, "id")?),
        kind: row::word(&kind, "kind", JobKind::parse)?,
        key: row::get(raw, "key")?,
        lane: row::get(raw, "lane")?,
        due_at: Timestamp::from_millis(row::get(raw, "due_at")?),
        attempts: row::number(row::get(raw, "attempts")?, "attempts")?,
    })
}
