//! The job table: the truth about what is to be done. Notifications only wake workers up.

use rusqlite::{OptionalExtension, Row, named_params};

use super::{Reader, Result, Writer, row};
use crate::domain::{ChatId, Job, JobId, JobKind, Timestamp};

const COLUMNS: &str = "id, kind, key, lane, due_at, attempts";

/// A job that was put aside, for whoever looks after the daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedJob {
    pub id: JobId,
    pub kind: JobKind,
    pub attempts: u32,
    /// Holds no message content.
    pub last_error: Option<String>,
}

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

/// The job of this kind and key, while it is neither done nor put aside.
pub fn find(conn: &Reader, kind: JobKind, key: &str) -> Result<Option<Job>> {
    let sql = format!("SELECT {COLUMNS} FROM job WHERE kind = :kind AND key = :key AND state = 'due'");
    conn.prepare_cached(&sql)?
        .query_row(named_params! { ":kind": kind.as_str(), ":key": key }, |raw| Ok(from_row(raw)))
        .optional()?
        .transpose()
}

/// Whether a job of this kind and key waits or is being worked on.
pub fn is_due(conn: &Reader, kind: JobKind, key: &str) -> Result<bool> {
    Ok(conn
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM job WHERE kind = :kind AND key = :key AND state = 'due') AS found",
        )?
        .query_row(named_params! { ":kind": kind.as_str(), ":key": key }, |raw| raw.get("found"))?)
}

/// Whether a job of this kind and key is or was there.
pub fn exists(conn: &Reader, kind: JobKind, key: &str) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM job WHERE kind = :kind AND key = :key) AS known")?
        .query_row(named_params! { ":kind": kind.as_str(), ":key": key }, |raw| raw.get("known"))?)
}

/// Adds a job, or moves the one that is there to `due_at` and makes it due again. Its moment always changes, by which
/// [`finish_unless_moved`] knows.
pub fn add_or_move(tx: &Writer<'_>, kind: JobKind, key: &str, lane: i64, due_at: Timestamp) -> Result<()> {
    tx.prepare_cached(
        "INSERT INTO job (kind, key, lane, due_at, state) VALUES (:kind, :key, :lane, :due_at, 'due')
         ON CONFLICT (kind, key) DO UPDATE
         SET due_at = excluded.due_at + (job.due_at = excluded.due_at), state = 'due', attempts = 0, last_error = NULL",
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

/// The same, unless it was asked for anew while it was worked on: then it is still to be done. Gives whether it is done.
pub fn finish_unless_moved(tx: &Writer<'_>, job: &Job) -> Result<bool> {
    let ended = tx
        .prepare_cached("UPDATE job SET state = 'done', last_error = NULL WHERE id = :id AND due_at = :due_at")?
        .execute(named_params! { ":id": job.id.0, ":due_at": job.due_at.millis() })?;
    Ok(ended == 1)
}

/// Writes down a failed attempt and when to try again, unless the job was ended while it was worked on.
pub fn retry(tx: &Writer<'_>, id: JobId, at: Timestamp, error: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE job SET due_at = :at, attempts = attempts + 1, last_error = :error WHERE id = :id AND state = 'due'",
    )?
    .execute(named_params! { ":id": id.0, ":at": at.millis(), ":error": error })?;
    Ok(())
}

/// Makes a job due later without counting an attempt: it did not fail, it waits. One that was ended in the meantime stays so.
pub fn postpone(tx: &Writer<'_>, id: JobId, at: Timestamp) -> Result<()> {
    tx.prepare_cached("UPDATE job SET due_at = :at WHERE id = :id AND state = 'due'")?
        .execute(named_params! { ":id": id.0, ":at": at.millis() })?;
    Ok(())
}

/// Puts a job aside for good, unless it was ended while it was worked on; `chime check` shows it.
pub fn park(tx: &Writer<'_>, id: JobId, error: &str) -> Result<()> {
    tx.prepare_cached(
        "UPDATE job SET state = 'parked', attempts = attempts + 1, last_error = :error
         WHERE id = :id AND state = 'due'",
    )?
    .execute(named_params! { ":id": id.0, ":error": error })?;
    Ok(())
}

/// Jobs put aside, oldest first.
pub fn parked(conn: &Reader, limit: u32) -> Result<Vec<ParkedJob>> {
    let mut statement = conn.prepare_cached(
        "SELECT id, kind, attempts, last_error FROM job WHERE state = 'parked' ORDER BY id LIMIT :limit",
    )?;
    let rows = statement.query_map(named_params! { ":limit": limit }, |raw| {
        Ok((raw.get("id")?, raw.get("kind")?, raw.get("attempts")?, raw.get("last_error")?))
    })?;
    rows.map(|row| {
        let (id, kind, attempts, last_error): (i64, String, i64, Option<String>) = row?;
        let kind = row::word(&kind, "kind", JobKind::parse)?;
        Ok(ParkedJob { id: JobId(id), kind, attempts: row::number(attempts, "attempts")?, last_error })
    })
    .collect()
}

/// Makes parked jobs due again, with all their attempts: one of them, or all. Gives how many.
pub fn unpark(tx: &Writer<'_>, which: Option<JobId>, now: Timestamp) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "UPDATE job SET state = 'due', due_at = :now, attempts = 0
             WHERE state = 'parked' AND (:id IS NULL OR id = :id)",
        )?
        .execute(named_params! { ":now": now.millis(), ":id": which.map(|id| id.0) })?)
}

/// Ends what was still to be said in a chat that the bot is no longer in.
pub fn end_all_of(tx: &Writer<'_>, chat: ChatId) -> Result<()> {
    tx.prepare_cached(
        "UPDATE job SET state = 'done' WHERE lane = :chat AND state = 'due'
             AND kind IN ('answer', 'command', 'send', 'backlog', 'refusal', 'announce', 'leave')",
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
        // Two counts of small partial indexes: most of the table is done.
        "SELECT (SELECT count(*) FROM job WHERE state = 'due' AND kind <> 'retention') AS open,
                (SELECT count(*) FROM job WHERE state = 'parked') AS parked",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Priority, Store};

    #[tokio::test]
    async fn what_is_asked_for_anew_while_it_is_worked_on_is_still_to_be_done() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(&folder.path().join("chime.db"), Timestamp::from_secs(1)).unwrap();
        let now = Timestamp::from_secs(1_000);
        let open = store
            .write(Priority::Background, move |tx| {
                let ask = |tx: &Writer<'_>| add_or_move(tx, JobKind::Leave, "-100", -100, now);
                ask(tx)?;
                let worked_on = find(tx, JobKind::Leave, "-100")?.unwrap();
                // In the same moment.
                ask(tx)?;
                let is_done = finish_unless_moved(tx, &worked_on)?;
                let anew = find(tx, JobKind::Leave, "-100")?.unwrap();
                Ok((is_done, finish_unless_moved(tx, &anew)?, counts(tx)?.0))
            })
            .await;
        assert_eq!(open.unwrap(), (false, true, 0));
    }

    #[tokio::test]
    async fn what_was_ended_while_it_was_worked_on_does_not_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(&folder.path().join("chime.db"), Timestamp::from_secs(1)).unwrap();
        let now = Timestamp::from_secs(1_000);
        let open_and_parked = store
            .write(Priority::Background, move |tx| {
                add_or_move(tx, JobKind::Leave, "-100", -100, now)?;
                let worked_on = find(tx, JobKind::Leave, "-100")?.unwrap();
                end_all_of(tx, ChatId(-100))?;
                postpone(tx, worked_on.id, now)?;
                retry(tx, worked_on.id, now, "Telegram is away")?;
                park(tx, worked_on.id, "Telegram is away")?;
                counts(tx)
            })
            .await;
        assert_eq!(open_and_parked.unwrap(), (0, 0));
    }
}
