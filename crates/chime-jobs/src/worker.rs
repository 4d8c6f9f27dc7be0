//! Worker pool that runs due jobs.

mod tasks;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{Id, JoinError};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::worker::tasks::JobTasks;
use crate::{
    JobError, JobOutcome, JobResult, RetryDecision, after_failure, by_clock_of, most_per_lane, next_run, startable,
};
use chime_core::{Job, JobId, JobKind, Timestamp};
use chime_runtime::clock::{Clock, SET_BACK_FROM};
use chime_store::{Priority, Store, StoreError, Writer, jobs};

/// Maximum number of jobs read from the table at once.
const LOOK_AHEAD: u32 = 512;
/// Longest sleep between two reads of the table. Without this limit the pool could sleep too long after the system
/// clock was set back.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// Time that running jobs have to end after a stop is requested. Jobs that take longer are interrupted and run again
/// after the next start.
const DRAIN: Duration = Duration::from_secs(7);
/// Time to wait before reading or writing again after the disk was full or the file locked.
const UNTIL_NEXT_TRY: Duration = Duration::from_millis(250);
/// Time of the next read of the table that is due at once, whatever the clock shows.
const AT_ONCE: Timestamp = Timestamp::from_millis(0);
/// Delay before a job is retried after a temporary failure. A member may be waiting for the answer, so it is short; but
/// not so short that retries flood the failing service.
const TRANSIENT_RETRY_DELAY: Duration = Duration::from_secs(2);

/// Wakes the pool when there may be work. Losing a wake-up loses no work, because jobs are read from the table.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<Notify>);

impl Wake {
    /// Makes the pool read the table.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}

pub struct Pool {
    pub store: Store,
    pub clock: Clock,
    pub wake: Wake,
}

/// Schedules every periodic job soon after the start: this one run replaces all runs missed while the process was
/// stopped.
pub fn schedule(tx: &Writer<'_>, now: Timestamp) -> Result<(), StoreError> {
    for (job, policy) in JobKind::periodic() {
        jobs::add_or_move(tx, &job, now.plus(policy.first_after))?;
    }
    Ok(())
}

impl Pool {
    /// Runs due jobs until `stop` is cancelled, then gives running jobs a few seconds to end.
    pub async fn run<H, F>(&self, stop: CancellationToken, handle: H) -> Result<(), StoreError>
    where
        H: Fn(Job) -> F,
        F: Future<Output = JobResult> + Send + 'static,
    {
        let mut tasks = JobTasks::default();
        let mut look_at = self.clock.now();
        let mut seen = look_at;
        while !stop.is_cancelled() {
            let now = self.clock.now();
            let by = seen.since(now);
            if by > SET_BACK_FROM {
                self.follow_clock(&mut tasks, by).await?;
                look_at = now;
            }
            seen = now;
            if look_at <= now {
                look_at = self.start_due(&mut tasks, &handle).await?;
            }
            // Computed from the time that was read above: the system clock may have been set back since.
            let pause = look_at.since(now);
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wake.0.notified() => look_at = AT_ONCE,
                () = self.clock.sleep(pause.min(LONGEST_SLEEP)) => {}
                Some(ended) = tasks.handles.join_next_with_id() => {
                    self.settle(&mut tasks, ended).await?;
                    look_at = AT_ONCE;
                }
            }
        }
        self.drain(tasks).await
    }

    /// Moves all due times back together with the system clock, so that no job waits much longer than intended. `by` is
    /// the time by which the clock was set back.
    async fn follow_clock(&self, tasks: &mut JobTasks, by: Duration) -> Result<(), StoreError> {
        tracing::warn!(by_s = by.as_secs(), "the clock of this machine was set back by {} s", by.as_secs());
        // The pauses between background jobs would last too long.
        tasks.running.forget_pace();
        let now = self.clock.now();
        record(&self.store, &self.clock, move |tx| jobs::set_back(tx, by, now)).await
    }

    /// Starts due jobs for which a place is free. Returns the latest time at which the table must be read again.
    async fn start_due<H, F>(&self, tasks: &mut JobTasks, handle: &H) -> Result<Timestamp, StoreError>
    where
        H: Fn(Job) -> F,
        F: Future<Output = JobResult> + Send + 'static,
    {
        let now = self.clock.now();
        let per_lane = most_per_lane();
        let looked = self
            .store
            .read(move |conn| Ok((jobs::due(conn, now, per_lane, LOOK_AHEAD)?, jobs::next_due(conn, now)?)))
            .await;
        let (due, next) = match looked {
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "due jobs cannot be read yet");
                return Ok(now.plus(UNTIL_NEXT_TRY));
            }
            looked => looked?,
        };
        let chosen = startable(due, &mut tasks.running, now);
        self.start(tasks, chosen.jobs, handle).await?;
        Ok([next, chosen.look_at].into_iter().flatten().fold(now.plus(LONGEST_SLEEP), Timestamp::min))
    }

    /// Marks each job as started, so that a crash counts as an attempt, and runs it in a task of its own. The caller
    /// has already taken a place in the pool for each.
    async fn start<H, F>(&self, tasks: &mut JobTasks, jobs: Vec<Job>, handle: &H) -> Result<(), StoreError>
    where
        H: Fn(Job) -> F,
        F: Future<Output = JobResult> + Send + 'static,
    {
        self.mark(jobs.iter().map(|job| job.id).collect()).await?;
        let now = self.clock.now();
        for job in jobs {
            let span = tracing::info_span!("job", job.id = job.id.0, job.kind = job.kind().as_str());
            let task = tasks.handles.spawn(handle(job.clone()).instrument(span));
            tasks.jobs.insert(task.id(), (job, now));
        }
        Ok(())
    }

    /// Marks jobs as started. If the database is full or locked, this is only logged: the mark matters only if one of
    /// these jobs crashes the process.
    async fn mark(&self, ids: Vec<JobId>) -> Result<(), StoreError> {
        if ids.is_empty() {
            return Ok(());
        }
        match self.store.write(Priority::Answering, move |tx| jobs::mark_started(tx, &ids)).await {
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "jobs under way could not be marked");
                Ok(())
            }
            marked => marked,
        }
    }

    /// Stores the outcome of a job that ended.
    async fn settle(&self, tasks: &mut JobTasks, ended: Result<(Id, JobResult), JoinError>) -> Result<(), StoreError> {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Err(JobError::Failed("panicked".to_owned()))),
        };
        let Some((job, began)) = tasks.jobs.remove(&id) else { return Ok(()) };
        let ms = u64::try_from(self.clock.now().since(began).as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(r#type = job.kind().as_str(), ms, "job.ended");
        let written = self.write_outcome(&job, began, outcome).await;
        tasks.running.end(&job);
        match written {
            // The row is unchanged, so the job is still due and runs again.
            Err(error) if error.is_passing() => {
                tracing::warn!(job.id = job.id.0, %error, "the outcome of job {} could not be written", job.id);
                self.clock.sleep(TRANSIENT_RETRY_DELAY).await;
                Ok(())
            }
            written => written,
        }
    }

    async fn write_outcome(&self, job: &Job, began: Timestamp, outcome: JobResult) -> Result<(), StoreError> {
        let (now, id) = (self.clock.now(), job.id);
        let (decision, error) = match outcome {
            Ok(JobOutcome::Finished) => return Ok(()),
            Ok(JobOutcome::UntilNextRun) => {
                let at = by_clock_of(now, next_run(job.kind(), began, now), began);
                let job = job.clone();
                return self.store.write(Priority::Answering, move |tx| jobs::end_run(tx, &job, at)).await;
            }
            Ok(JobOutcome::WaitUntil(at)) => return self.postpone(id, at, began).await,
            Err(JobError::Later(span)) => return self.postpone(id, now.plus(span), now).await,
            Err(JobError::Store(error)) if error.is_damage() => return Err(error),
            Err(JobError::Store(error)) if error.is_passing() => {
                return self.transient(job, &error.to_string()).await;
            }
            Err(JobError::Transient(error)) => return self.transient(job, &error).await,
            Err(JobError::RetryAt(at, error)) => {
                tracing::warn!(job.id = id.0, %error, "job {id} failed and will be tried again");
                (RetryDecision::RetryAt(by_clock_of(now, at, began)), error)
            }
            Err(JobError::Store(error)) => self.counted(job, began, &error.to_string()),
            Err(JobError::Failed(error)) => self.counted(job, began, &error),
        };
        self.store
            .write(Priority::Answering, move |tx| match decision {
                RetryDecision::RetryAt(at) => jobs::retry(tx, id, at, &error),
                RetryDecision::Park => jobs::park(tx, id, &error),
            })
            .await
    }

    async fn postpone(&self, id: JobId, at: Timestamp, began: Timestamp) -> Result<(), StoreError> {
        let at = by_clock_of(self.clock.now(), at, began);
        self.store.write(Priority::Answering, move |tx| jobs::postpone(tx, id, at)).await
    }

    async fn transient(&self, job: &Job, error: &str) -> Result<(), StoreError> {
        tracing::warn!(job.id = job.id.0, "{job} cannot be done yet and waits: {error}");
        let now = self.clock.now();
        self.postpone(job.id, now.plus(TRANSIENT_RETRY_DELAY), now).await
    }

    /// Decides about a failure that counts as an attempt.
    fn counted(&self, job: &Job, began: Timestamp, error: &str) -> (RetryDecision, String) {
        let error = format!("{job}: {error}");
        let (now, id) = (self.clock.now(), job.id);
        let random = now.millis().unsigned_abs().wrapping_mul(id.0.unsigned_abs() | 1);
        let decision = after_failure(job, began, now, random);
        tracing::warn!(
            job.id = id.0, job.kind = job.kind().as_str(), job.attempts = job.attempts + 1, %error,
            "job {id} failed: {}", if decision == RetryDecision::Park { "parked" } else { "will be tried again" },
        );
        (decision, error)
    }

    async fn drain(&self, mut tasks: JobTasks) -> Result<(), StoreError> {
        let until = self.clock.now().plus(DRAIN);
        while !tasks.handles.is_empty() {
            tokio::select! {
                () = self.clock.sleep_until(until) => break,
                Some(ended) = tasks.handles.join_next_with_id() => { self.settle(&mut tasks, ended).await?; }
            }
        }
        if !tasks.handles.is_empty() {
            tracing::info!(jobs.left = tasks.handles.len(), "{} jobs stay for the next start", tasks.handles.len());
        }
        tasks.handles.shutdown().await;
        let cut_short: Vec<JobId> = tasks.jobs.values().map(|(job, _)| job.id).collect();
        if cut_short.is_empty() {
            return Ok(());
        }
        self.store.write(Priority::Answering, move |tx| jobs::unmark_started(tx, &cut_short)).await
    }
}

/// Runs a write whose loss would cause harm: for example, an answer or send that is not recorded would be repeated.
/// Retries while the disk is full or the file is locked. Dropping the future ends the retries.
pub async fn record<T, W>(store: &Store, clock: &Clock, work: W) -> Result<T, StoreError>
where
    W: FnOnce(&Writer<'_>) -> Result<T, StoreError> + Clone + Send + 'static,
    T: Send + 'static,
{
    loop {
        match store.write(Priority::Answering, work.clone()).await {
            Err(error) if error.is_passing() => {
                tracing::warn!(%error, "the database cannot be written yet, trying again");
                clock.sleep(UNTIL_NEXT_TRY).await;
            }
            written => return written,
        }
    }
}
