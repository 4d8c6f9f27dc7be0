//! Table of jobs: the only record of work to do. Notifications in memory only wake the workers. A job is due (now or
//! later), done, or parked. A lane is the chat that a job belongs to, or 0.

use std::sync::LazyLock;
use std::time::Duration;

use super::sql::{Columns, Json, Params, Statements, params, rows};
use super::{Reader, Result, StoreError, Writer};
use chime_core::{ChatId, Class, Job, JobId, JobKind, JobPayload, Timestamp};

const COLUMNS: &str = "id, payload, due_at, attempts";

/// Job that is not run any more until the operator retries it, with the columns that `chime check` lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedJob {
    pub id: JobId,
    /// Stored text, not a [`JobKind`]: a job written by another version may have a kind that is unknown here.
    pub kind: String,
    pub attempts: u32,
    /// Error of the last attempt. It contains no message text.
    pub last_error: Option<String>,
}

rows! {
    ParkedJob { id, kind, attempts, last_error }
}

/// Adds a job unless the table has one with the same kind and key, even a finished one. So a trigger that arrives twice
/// makes one job. Returns `true` if the job was added.
pub fn add(tx: &Writer<'_>, job: &JobPayload, due_at: Timestamp) -> Result<bool> {
    insert(tx, job, due_at, "NOTHING")
}

/// Adds a job, or makes the existing one due at `due_at`, with no attempts counted. If its due time is `due_at`
/// already, one millisecond is added: [`finish_unless_moved`] detects the move by a different due time.
pub fn add_or_move(tx: &Writer<'_>, job: &JobPayload, due_at: Timestamp) -> Result<()> {
    let anew = "UPDATE SET due_at = excluded.due_at + (job.due_at = excluded.due_at), state = 'due', attempts = 0,
                    started = 0, last_error = NULL, payload = excluded.payload";
    insert(tx, job, due_at, anew).map(drop)
}

/// Adds a job, or makes a done or parked one due at `due_at`. A job that is due already, now or later, is not changed.
pub fn add_unless_due(tx: &Writer<'_>, job: &JobPayload, due_at: Timestamp) -> Result<()> {
    let anew = "UPDATE SET due_at = excluded.due_at, state = 'due', attempts = 0, started = 0, last_error = NULL,
                    payload = excluded.payload WHERE job.state <> 'due'";
    insert(tx, job, due_at, anew).map(drop)
}

/// Adds a job, or makes a done one due at `due_at`. A due or parked job is not changed.
pub fn add_again(tx: &Writer<'_>, job: &JobPayload, due_at: Timestamp) -> Result<()> {
    let anew = "UPDATE SET due_at = excluded.due_at, state = 'due', attempts = 0, started = 0, last_error = NULL,
                    payload = excluded.payload WHERE job.state = 'done'";
    insert(tx, job, due_at, anew).map(drop)
}

fn insert(tx: &Writer<'_>, job: &JobPayload, due_at: Timestamp, on_conflict: &str) -> Result<bool> {
    let sql = format!(
        "INSERT INTO job (kind, key, lane, due_at, state, payload) VALUES (:kind, :key, :lane, :due_at, 'due', :payload)
         ON CONFLICT (kind, key) DO {on_conflict}"
    );
    let changed = tx.changed(
        &sql,
        params! {
            ":kind": job.kind(), ":key": job.key(), ":lane": job.lane(), ":due_at": due_at,
            ":payload": Json(&job),
        },
    )?;
    Ok(changed == 1)
}

/// Returns the stored job with the kind and key of `job`, or `None` if there is none or it is done or parked.
pub fn find(conn: &Reader, job: &JobPayload) -> Result<Option<Job>> {
    let sql = format!("SELECT {COLUMNS} FROM job WHERE kind = :kind AND key = :key AND state = 'due'");
    conn.map_first(&sql, params! { ":kind": job.kind(), ":key": job.key() }, from_row)
}

/// Returns `true` if a job of this kind and key is running or still to be run.
pub fn is_due(conn: &Reader, job: &JobPayload) -> Result<bool> {
    has_row(conn, job.kind(), &job.key(), "state = 'due'")
}

pub fn is_any_due(conn: &Reader, kind: JobKind, chat: ChatId) -> Result<bool> {
    let sql = "SELECT 1 FROM job WHERE kind = :kind AND lane = :chat AND state = 'due'";
    conn.any(sql, params! { ":kind": kind, ":chat": chat })
}

pub fn exists(conn: &Reader, kind: JobKind, key: &str) -> Result<bool> {
    has_row(conn, kind, key, "true")
}

fn has_row(conn: &Reader, kind: JobKind, key: &str, condition: &str) -> Result<bool> {
    let sql = format!("SELECT 1 FROM job WHERE kind = :kind AND key = :key AND {condition}");
    conn.any(&sql, params! { ":kind": kind, ":key": key })
}

/// Replaces the payload of a job that is not done or parked, for example after its message was edited.
pub fn replace(tx: &Writer<'_>, job: &JobPayload) -> Result<()> {
    tx.run(
        "UPDATE job SET payload = :payload WHERE kind = :kind AND key = :key AND state = 'due'",
        params! {
            ":kind": job.kind(), ":key": job.key(), ":payload": Json(&job),
        },
    )
}

/// Returns at most `limit` jobs that are due at `now`: answering jobs first, then background jobs, each group oldest
/// first. At most `per_lane` of them have the same kind and lane (chat), so that a busy chat cannot block the others.
pub fn due(conn: &Reader, now: Timestamp, per_lane: usize, limit: u32) -> Result<Vec<Job>> {
    static SQL: LazyLock<String> = LazyLock::new(|| {
        let background = JobKind::sql_list(|policy| policy.class == Class::Background);
        format!(
            "SELECT {COLUMNS} FROM (
                 SELECT {COLUMNS}, kind IN ({background}) AS is_background,
                        row_number() OVER (PARTITION BY kind, lane ORDER BY due_at, id) AS place
                 FROM job WHERE state = 'due' AND due_at <= :now)
             WHERE place <= :per_lane ORDER BY is_background, due_at, id LIMIT :limit"
        )
    });
    readable(
        conn,
        &SQL,
        params! {
            ":now": now, ":per_lane": per_lane, ":limit": limit,
        },
    )
}

/// Skips jobs that this version cannot parse; [`park_unreadable`] parks them at the next start.
fn readable(conn: &Reader, sql: &str, params: Params<'_>) -> Result<Vec<Job>> {
    let found = conn.map(sql, params, |row| match from_row(row) {
        Err(StoreError::BadValue { .. }) => Ok(None),
        read => read.map(Some),
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns the earliest due time after `now`, or `None` if no job is due later.
pub fn next_due(conn: &Reader, now: Timestamp) -> Result<Option<Timestamp>> {
    conn.one("SELECT min(due_at) AS at FROM job WHERE state = 'due' AND due_at > :now", params! { ":now": now })
}

/// Marks jobs as started, so that [`recover`] counts an attempt for them if the process crashes.
pub fn mark_started(tx: &Writer<'_>, ids: &[JobId]) -> Result<()> {
    set_started(tx, ids, true)
}

/// Undoes [`mark_started`] for jobs that an orderly stop interrupted: no attempt is counted for them at the next start.
pub fn unmark_started(tx: &Writer<'_>, ids: &[JobId]) -> Result<()> {
    set_started(tx, ids, false)
}

fn set_started(tx: &Writer<'_>, ids: &[JobId], started: bool) -> Result<()> {
    for id in ids {
        tx.run(
            "UPDATE job SET started = :started WHERE id = :id AND state = 'due'",
            params! { ":id": id, ":started": started },
        )?;
    }
    Ok(())
}

/// Marks a job done and deletes its payload. The row stays until [`prune`] deletes it, so that the same trigger is not
/// handled again.
pub fn finish(tx: &Writer<'_>, kind: JobKind, key: &str) -> Result<()> {
    tx.run(
        "UPDATE job SET state = 'done', last_error = NULL, payload = NULL WHERE kind = :kind AND key = :key",
        params! { ":kind": kind, ":key": key },
    )
}

/// Deletes a job that had nothing to do.
pub fn remove(tx: &Writer<'_>, kind: JobKind, key: &str) -> Result<()> {
    tx.run("DELETE FROM job WHERE kind = :kind AND key = :key", params! { ":kind": kind, ":key": key })
}

/// Returns the number of jobs of a chat that were due since `since` and are done.
pub fn done_since(conn: &Reader, kind: JobKind, chat: ChatId, since: Timestamp) -> Result<u64> {
    conn.one(
        "SELECT count(*) FROM job WHERE kind = :kind AND state = 'done' AND due_at >= :since AND lane = :chat",
        params! { ":kind": kind, ":since": since, ":chat": chat },
    )
}

/// Marks a job done, unless [`add_or_move`] made it due again while it ran. Returns `true` if the job is now done.
pub fn finish_unless_moved(tx: &Writer<'_>, job: &Job) -> Result<bool> {
    let ended = tx.changed(
        "UPDATE job SET state = 'done', last_error = NULL, payload = NULL WHERE id = :id AND due_at = :due_at",
        params! { ":id": job.id, ":due_at": job.due_at },
    )?;
    Ok(ended == 1)
}

/// Makes a periodic job due at `at` if it would run later, and again then if it is running at `now`. After a failed run,
/// its next time stays. Returns `true` if the job was moved.
pub fn hasten(tx: &Writer<'_>, job: &JobPayload, now: Timestamp, at: Timestamp) -> Result<bool> {
    let moved = tx.changed(
        "UPDATE job SET due_at = :at WHERE kind = :kind AND key = :key AND state = 'due' AND attempts = 0
         AND (due_at > :at OR started = 1 AND due_at <= :now)",
        params! { ":kind": job.kind(), ":key": job.key(), ":at": at, ":now": now },
    )?;
    Ok(moved > 0)
}

/// Records a run of a periodic job, which is due again at `at`, or earlier if [`hasten`] moved it while it ran.
pub fn end_run(tx: &Writer<'_>, job: &Job, at: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE job SET due_at = CASE WHEN due_at = :was THEN :at ELSE due_at END, attempts = 0, started = 0,
             last_error = NULL WHERE id = :id AND state = 'due'",
        params! { ":id": job.id, ":was": job.due_at, ":at": at },
    )
}

/// Records a failed attempt, its error, and the time of the next attempt. Does nothing if the job was ended while it
/// ran.
pub fn retry(tx: &Writer<'_>, id: JobId, at: Timestamp, error: &str) -> Result<()> {
    tx.run(
        "UPDATE job SET due_at = :at, attempts = attempts + 1, started = 0, last_error = :error
         WHERE id = :id AND state = 'due'",
        params! { ":id": id, ":at": at, ":error": error },
    )
}

/// Moves all future due times earlier by `by`, but not before `now`. Used after the system clock was set back by `by`:
/// without it, jobs would wait longer than planned.
pub fn set_back(tx: &Writer<'_>, by: Duration, now: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE job SET due_at = max(due_at - :by, :now) WHERE state = 'due' AND due_at > :now",
        params! { ":by": u64::try_from(by.as_millis()).unwrap_or(u64::MAX), ":now": now },
    )
}

/// Moves the due time of a job to `at` without counting an attempt. Does nothing if the job was ended in the meantime.
pub fn postpone(tx: &Writer<'_>, id: JobId, at: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE job SET due_at = :at, started = 0 WHERE id = :id AND state = 'due'",
        params! { ":id": id, ":at": at },
    )
}

/// Counts an attempt and parks a job: it is not run again until it is retried. Does nothing if the job was ended while
/// it ran. `chime check` lists parked jobs.
pub fn park(tx: &Writer<'_>, id: JobId, error: &str) -> Result<()> {
    tx.run(
        "UPDATE job SET state = 'parked', attempts = attempts + 1, started = 0, last_error = :error
         WHERE id = :id AND state = 'due'",
        params! { ":id": id, ":error": error },
    )
}

pub fn parked(conn: &Reader, limit: u32) -> Result<Vec<ParkedJob>> {
    conn.all(
        "SELECT id, kind, attempts, last_error FROM job WHERE state = 'parked' ORDER BY id LIMIT :limit",
        params! { ":limit": limit },
    )
}

/// Makes the parked job `which` due at `now` with no attempts counted; for `None`, all parked jobs. Returns the number
/// of jobs.
pub fn unpark(tx: &Writer<'_>, which: Option<JobId>, now: Timestamp) -> Result<usize> {
    tx.changed(
        "UPDATE job SET state = 'due', due_at = :now, attempts = 0
         WHERE state = 'parked' AND (:id IS NULL OR id = :id)",
        params! { ":now": now, ":id": which },
    )
}

/// Marks the unfinished jobs of a chat that the bot has left as done. Only for kinds whose policy sets
/// `ends_with_chat`.
pub fn end_all_of(tx: &Writer<'_>, chat: ChatId) -> Result<()> {
    let kinds = JobKind::sql_list(|policy| policy.ends_with_chat);
    let sql = format!(
        "UPDATE job SET state = 'done', payload = NULL WHERE lane = :chat AND state = 'due' AND kind IN ({kinds})"
    );
    tx.run(&sql, params! { ":chat": chat })
}

pub fn end_kind_of(tx: &Writer<'_>, kind: JobKind, chat: ChatId) -> Result<()> {
    tx.run(
        "UPDATE job SET state = 'done', payload = NULL WHERE kind = :kind AND lane = :chat AND state = 'due'",
        params! { ":kind": kind, ":chat": chat },
    )
}

/// Parks jobs whose payload this version cannot parse, and returns their number. The version that wrote them can retry
/// them.
pub fn park_unreadable(tx: &Writer<'_>) -> Result<usize> {
    let rows: Vec<(JobId, Option<String>)> = tx.all("SELECT id, payload FROM job WHERE state = 'due'", &[])?;
    let mut parked = 0;
    for (id, payload) in rows {
        if payload.is_some_and(|payload| serde_json::from_str::<JobPayload>(&payload).is_ok()) {
            continue;
        }
        park(tx, id, "this version cannot read it")?;
        parked += 1;
    }
    Ok(parked)
}

/// Counts an attempt for every job that was running when the process ended, because it may have caused the crash, and
/// parks jobs without attempts left (periodic jobs never). Returns the number of jobs that are due at `now`.
pub fn recover(tx: &Writer<'_>, now: Timestamp) -> Result<usize> {
    for kind in JobKind::ALL {
        let policy = kind.policy();
        let attempts = if policy.is_periodic() { u32::MAX } else { policy.attempts };
        tx.run("UPDATE job SET attempts = attempts + :charge, started = 0,
                 state = CASE WHEN attempts + :charge >= :most THEN 'parked' ELSE state END,
                 last_error = CASE WHEN attempts + :charge >= :most THEN 'the process ended while at it' ELSE last_error END
             WHERE state = 'due' AND started = 1 AND kind = :kind", params! { ":kind": kind, ":most": attempts, ":charge": policy.charge_of_crash() })?;
    }
    let due = "SELECT count(*) AS due FROM job WHERE state = 'due' AND due_at <= :now";
    tx.one(due, params! { ":now": now })
}

/// Deletes done jobs that were due longer ago than the `row_kept` of their kind, at most `limit` per kind. Returns the
/// number of deleted rows.
pub fn prune(tx: &Writer<'_>, now: Timestamp, limit: u32) -> Result<usize> {
    let mut pruned = 0;
    for kind in JobKind::ALL {
        let cutoff = now.minus(kind.policy().row_kept);
        pruned += tx.changed(
            "DELETE FROM job WHERE id IN
             (SELECT id FROM job WHERE state = 'done' AND kind = :kind AND due_at < :cutoff LIMIT :limit)",
            params! { ":kind": kind, ":cutoff": cutoff, ":limit": limit },
        )?;
    }
    Ok(pruned)
}

/// Returns the number of unfinished jobs and the number of parked jobs. Periodic jobs are always unfinished, so the
/// first number excludes them.
pub fn counts(conn: &Reader) -> Result<(u64, u64)> {
    let periodic = JobKind::sql_list(|policy| policy.is_periodic());
    // Two separate counts can use small partial indexes. Most rows of the table are done and are in neither.
    let sql = format!(
        "SELECT (SELECT count(*) FROM job WHERE state = 'due' AND kind NOT IN ({periodic})) AS open,
         (SELECT count(*) FROM job WHERE state = 'parked') AS parked"
    );
    conn.one(&sql, &[])
}

/// Returns the number of unfinished jobs and the number of parked jobs of each kind, for kinds that have any.
pub fn counts_by_kind(conn: &Reader) -> Result<Vec<(JobKind, u64, u64)>> {
    let rows: Vec<(String, u64, u64)> = conn.all(
        "SELECT kind, sum(state = 'due') AS open, sum(state = 'parked') AS parked
         FROM job WHERE state IN ('due', 'parked') GROUP BY kind ORDER BY kind",
        &[],
    )?;
    Ok(rows.into_iter().filter_map(|(kind, open, parked)| Some((JobKind::parse(&kind)?, open, parked))).collect())
}

fn from_row(raw: &Columns<'_>) -> Result<Job> {
    Ok(Job {
        id: raw.get("id")?,
        payload: raw.json("payload")?,
        due_at: raw.get("due_at")?,
        attempts: raw.get("attempts")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::testkit::new_store;
    use chime_core::{ChatKey, MessageAt, MessageId};

    fn leave() -> JobPayload {
        JobPayload::Leave { chat: ChatId(-100) }
    }

    #[tokio::test]
    async fn who_waits_goes_first_and_a_crowded_lane_hides_nobody() {
        let (_folder, store) = new_store().await;
        let at = |chat, id| MessageAt { chat: ChatId(chat), message: MessageId(id) };
        let now = Timestamp::from_secs(1_000);
        let look = move |tx: &Writer<'_>| {
            add(tx, &JobPayload::Recaps {}, Timestamp::from_secs(1))?;
            for id in 1..=3 {
                add(tx, &JobPayload::Refusal { at: at(-100, id) }, Timestamp::from_secs(1 + id))?;
            }
            add(tx, &JobPayload::Refusal { at: at(-200, 9) }, Timestamp::from_secs(9))?;
            add(tx, &leave(), Timestamp::from_secs(2_000))?;
            let keys = |per_lane, limit| -> Result<Vec<String>> {
                Ok(due(tx, now, per_lane, limit)?.iter().map(Job::key).collect())
            };
            Ok([keys(9, 9)?, keys(2, 9)?, keys(9, 2)?, keys(2, 1)?])
        };
        let [all, of_lanes, first, first_of_lanes] = store.write(Priority::Background, look).await.unwrap();
        assert_eq!(all, ["-100:1", "-100:2", "-100:3", "-200:9", ""]);
        assert_eq!(of_lanes, ["-100:1", "-100:2", "-200:9", ""]);
        assert_eq!((first, first_of_lanes), (all[..2].to_vec(), all[..1].to_vec()));
    }

    #[tokio::test]
    async fn what_is_asked_for_anew_while_it_is_worked_on_is_still_to_be_done() {
        let (_folder, store) = new_store().await;
        let now = Timestamp::from_secs(1_000);
        let open = store
            .write(Priority::Background, move |tx| {
                let ask = |tx: &Writer<'_>| add_or_move(tx, &leave(), now);
                ask(tx)?;
                let worked_on = find(tx, &leave())?.unwrap();
                // `add_or_move` with the same due time, while the job runs.
                ask(tx)?;
                let is_done = finish_unless_moved(tx, &worked_on)?;
                let anew = find(tx, &leave())?.unwrap();
                Ok((is_done, finish_unless_moved(tx, &anew)?, counts(tx)?.0))
            })
            .await;
        assert_eq!(open.unwrap(), (false, true, 0));
    }

    #[tokio::test]
    async fn a_periodic_job_runs_sooner_for_new_work_and_again_for_work_that_comes_while_it_runs() {
        let (_folder, store) = new_store().await;
        let at = Timestamp::from_secs;
        let work = move |tx: &Writer<'_>| {
            let job = JobPayload::Vectors {};
            let stored = |tx: &Writer<'_>| Ok::<_, StoreError>(find(tx, &job)?.unwrap());
            add(tx, &job, at(600))?;
            assert!(hasten(tx, &job, at(10), at(11))?);
            assert!(!hasten(tx, &job, at(10), at(12))?, "the first message is not left waiting for later ones");
            let running = stored(tx)?;
            mark_started(tx, &[running.id])?;
            assert!(hasten(tx, &job, at(20), at(21))?);
            end_run(tx, &running, at(620))?;
            assert_eq!(stored(tx)?.due_at, at(21));
            end_run(tx, &stored(tx)?, at(621))?;
            assert_eq!(stored(tx)?.due_at, at(621));
            retry(tx, running.id, at(700), "the server is away")?;
            assert!(!hasten(tx, &job, at(30), at(31))?, "a server that failed is not asked for each message");
            end_run(tx, &stored(tx)?, at(900))?;
            hasten(tx, &job, at(710), at(711))
        };
        assert!(store.write(Priority::Background, work).await.unwrap());
    }

    #[tokio::test]
    async fn what_was_ended_while_it_was_worked_on_does_not_come_back() {
        let (_folder, store) = new_store().await;
        let now = Timestamp::from_secs(1_000);
        let open_and_parked = store
            .write(Priority::Background, move |tx| {
                add_or_move(tx, &leave(), now)?;
                let worked_on = find(tx, &leave())?.unwrap();
                end_all_of(tx, ChatId(-100))?;
                postpone(tx, worked_on.id, now)?;
                retry(tx, worked_on.id, now, "Telegram is away")?;
                park(tx, worked_on.id, "Telegram is away")?;
                counts(tx)
            })
            .await;
        assert_eq!(open_and_parked.unwrap(), (0, 0));
    }

    #[tokio::test]
    async fn a_restart_charges_what_was_worked_on_and_parks_it_in_the_end() {
        let (_folder, store) = new_store().await;
        let now = Timestamp::from_secs(1_000);
        let refusal = |id| JobPayload::Refusal { at: MessageAt { chat: ChatId(-100), message: MessageId(id) } };
        let seen = store
            .write(Priority::Background, move |tx| {
                add(tx, &refusal(1), now)?;
                add(tx, &refusal(2), now)?;
                let running = find(tx, &refusal(1))?.unwrap().id;
                mark_started(tx, &[running])?;
                recover(tx, now)?;
                let attempts = |id| Ok::<_, crate::StoreError>(find(tx, &refusal(id))?.map(|job| job.attempts));
                let after_one = [attempts(1)?, attempts(2)?];
                for _ in 0..7 {
                    mark_started(tx, &[running])?;
                    recover(tx, now)?;
                }
                Ok((after_one, attempts(1)?, counts(tx)?))
            })
            .await
            .unwrap();
        assert_eq!(seen, ([Some(1), Some(0)], None, (1, 1)));
    }

    #[tokio::test]
    async fn no_job_ends_the_process_more_than_eight_times() {
        let (_folder, store) = new_store().await;
        let now = Timestamp::from_secs(1_000);
        let parked = store
            .write(Priority::Background, move |tx| {
                for job in [leave(), JobPayload::Recent { chat: ChatId(-100), key: ChatKey(1) }] {
                    add(tx, &job, now)?;
                    let id = find(tx, &job)?.unwrap().id;
                    let mut crashes = 0;
                    while find(tx, &job)?.is_some() {
                        mark_started(tx, &[id])?;
                        recover(tx, now)?;
                        crashes += 1;
                    }
                    assert_eq!(crashes, 8, "{}", job.kind().as_str());
                }
                counts(tx)
            })
            .await
            .unwrap();
        assert_eq!(parked, (0, 2));
    }

    #[tokio::test]
    async fn every_kind_ends_with_its_chat_unless_its_policy_says_otherwise() {
        let (_folder, store) = new_store().await;
        let (chat, now) = (ChatId(-100), Timestamp::from_secs(1_000));
        let at = MessageAt { chat, message: MessageId(1) };
        let left = store
            .write(Priority::Background, move |tx| {
                add(tx, &JobPayload::Answer { at, parsed: Default::default() }, now)?;
                add(tx, &JobPayload::Forget { request: 1, chat }, now)?;
                end_all_of(tx, chat)?;
                due(tx, now, 9, 9)
            })
            .await
            .unwrap();
        assert_eq!(left.iter().map(Job::kind).collect::<Vec<_>>(), [JobKind::Forget]);
    }

    #[tokio::test]
    async fn rows_of_done_jobs_go_after_their_time() {
        let (_folder, store) = new_store().await;
        let now = Timestamp::from_secs(1_000);
        let month = JobKind::Leave.policy().row_kept;
        let pruned = store
            .write(Priority::Background, move |tx| {
                add(tx, &leave(), now)?;
                let waiting = prune(tx, now.plus(month * 2), 9)?;
                finish(tx, JobKind::Leave, &leave().key())?;
                Ok([waiting, prune(tx, now.plus(month), 9)?, prune(tx, now.plus(month * 2), 9)?])
            })
            .await
            .unwrap();
        assert_eq!(pruned, [0, 0, 1]);
    }
}
