//! The worker pool.

mod crew;

use std::fmt::Display;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::{Id, JoinError};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::worker::crew::Crew;
use crate::{Verdict, after_failure, by_clock_of, most_per_lane, next_run, startable};
use chime_core::{Class, Job, JobId, Marked, Schedule, Timestamp};
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store, StoreError, Writer, jobs};

/// Jobs looked at in one go. More wait their turn in the table.
const LOOK_AHEAD: u32 = 512;
/// The longest sleep between two looks at the table: covers a wall clock that was set back.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);
/// How long jobs under way may go on after the stop; the rest stays in the table for the next start.
const DRAIN: Duration = Duration::from_secs(7);

/// After this a job is marked in the table as being worked on, unless that was done when it started.
const MARK_AFTER: Duration = Duration::from_millis(200);
/// After a full disk or a locked file, before the next try.
const UNTIL_NEXT_TRY: Duration = Duration::from_millis(250);
/// Before a job that was hindered is tried again: soon enough for who waits, and no storm while it lasts.
const UNTIL_HINDRANCE_PASSES: Duration = Duration::from_secs(2);

/// Tells the pool that there may be work. Only hints: the table is the truth.
#[derive(Debug, Clone, Default)]
pub struct Wake(Arc<Waking>);

#[derive(Debug, Default)]
struct Waking {
    notify: Notify,
    hints: Mutex<Hints>,
}

#[derive(Debug, Default)]
struct Hints {
    look: bool,
    jobs: Vec<Job>,
}

impl Wake {
    /// Have the table looked at.
    pub fn wake(&self) {
        self.hints().look = true;
        self.0.notify.notify_one();
    }

    /// Hands over jobs that were just committed and are due, which saves looking for them.
    pub fn offer(&self, jobs: impl IntoIterator<Item = Job>) {
        self.hints().jobs.extend(jobs);
        self.0.notify.notify_one();
    }

    fn take(&self) -> Hints {
        std::mem::take(&mut *self.hints())
    }

    fn hints(&self) -> MutexGuard<'_, Hints> {
        self.0.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What an attempt at a job came to.
#[derive(Debug)]
pub enum Outcome {
    /// The job was finished in the transaction that stored its result.
    Finished,
    /// Periodic work has ended until its next run.
    UntilNextRun,
    /// It waits for a known moment; no attempt is counted.
    WaitUntil(Timestamp),
    /// It failed and knows itself when to try again and when to end.
    RetryAt(Timestamp, String),
    /// What hinders it will pass, as a full disk or a lost network does: tried again for as long as that lasts.
    Hindered(String),
    /// It failed; try again later, up to a limit. The text holds no message content.
    Failed(String),
    /// The file is damaged: nobody works on it any more.
    Unusable(StoreError),
}

impl Outcome {
    /// What an error of the store makes of the attempt at `doing`.
    pub fn of_store(error: &StoreError, doing: impl Display) -> Self {
        let told = format!("{doing}: {error}");
        match error {
            error if error.is_damage() => Self::Unusable(error.same_class()),
            error if error.is_passing() => Self::Hindered(told),
            _ => Self::Failed(told),
        }
    }
}

pub struct Pool {
    pub store: Store,
    pub clock: Clock,
    pub wake: Wake,
}

/// Puts the periodic work into the table; what was missed is run once, soon after the start.
pub fn schedule(tx: &Writer<'_>, now: Timestamp) -> Result<(), StoreError> {
    for Schedule { job, first_after, .. } in Schedule::all() {
        jobs::add_or_move(tx, &job, now.plus(first_after))?;
    }
    Ok(())
}

impl Pool {
    /// Works until `stop`, then gives what is under way a few seconds to end.
    pub async fn run<H, F>(&self, stop: CancellationToken, handle: H) -> Result<(), StoreError>
    where
        H: Fn(Job) -> F,
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut crew = Crew { started_at: Some(self.clock.now()), ..Crew::default() };
        let mut look_at = self.clock.now();
        let mut watch = self.clock.watch_set_back();
        while !stop.is_cancelled() {
            if let Some(by) = watch.look(&self.clock) {
                self.follow_clock(&mut crew, by).await?;
                look_at = self.clock.now();
            }
            // Asked for before the hints are taken, so that one given in between wakes us again.
            let woken = self.wake.0.notify.notified();
            let hints = self.wake.take();
            self.make_due(&hints.jobs).await?;
            let is_clear = self.start_offered(&mut crew, hints.jobs, &handle);
            if hints.look || !is_clear || look_at <= self.clock.now() {
                look_at = self.start_due(&mut crew, &handle).await?;
            }
            let mark_at = self.mark_long_running(&mut crew).await?;
            if watch.has_noticed(&self.clock) {
                // What was worked out by the clock as it was is far away by now.
                continue;
            }
            let pause = mark_at.map_or(look_at, |at| at.min(look_at)).since(self.clock.now());
            tokio::select! {
                () = stop.cancelled() => break,
                () = woken => {}
                () = self.clock.sleep(pause.min(LONGEST_SLEEP)) => {}
                Some(ended) = crew.tasks.join_next_with_id() => {
                    if self.settle(&mut crew, ended).await? == Look::Now {
                        look_at = self.clock.now();
                    }
                }
            }
        }
        self.drain(crew).await
    }

    /// The wall clock was set back: no job waits for longer than it was to.
    async fn follow_clock(&self, crew: &mut Crew, by: Duration) -> Result<(), StoreError> {
        tracing::warn!(by_s = by.as_secs(), "the clock of this machine was set back by {} s", by.as_secs());
        crew.set_back(by);
        let now = self.clock.now();
        record(&self.store, &self.clock, move |tx| jobs::set_back(tx, by, now)).await
    }

    /// What was handed over is due. Where the clock was set back while a row was written, the table says otherwise.
    async fn make_due(&self, offered: &[Job]) -> Result<(), StoreError> {
        let now = self.clock.now();
        let late: Vec<JobId> = offered.iter().filter(|job| job.due_at > now).map(|job| job.id).collect();
        if late.is_empty() {
            return Ok(());
        }
        let due = move |tx: &Writer<'_>| late.iter().try_for_each(|id| jobs::postpone(tx, *id, now));
        record(&self.store, &self.clock, due).await
    }

    /// Starts jobs that were handed over. False where that cannot be told without the table: it may have shown them to
    /// us before, or there is no place.
    fn start_offered<H, F>(&self, crew: &mut Crew, jobs: Vec<Job>, handle: &H) -> bool
    where
        H: Fn(Job) -> F,
        F: Future<Output = Outcome> + Send + 'static,
    {
        let offered = jobs.len();
        // Whether background work may start is seen in the table alone.
        let may_start = |job: &Job| crew.running.is_news(job) && job.kind().policy().class == Class::Answering;
        let news: Vec<Job> = jobs.into_iter().filter(may_start).collect();
        let started = startable(news, &mut crew.running, self.clock.now()).jobs;
        let is_clear = started.len() == offered;
        self.start(crew, started, handle);
        is_clear
    }

    /// Starts what is due and has a place; gives when to look again at the latest.
    async fn start_due<H, F>(&self, crew: &mut Crew, handle: &H) -> Result<Timestamp, StoreError>
    where
        H: Fn(Job) -> F,
        F: Future<Output = Outcome> + Send + 'static,
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
        let chosen = startable(due, &mut crew.running, now);
        let suspects = chosen.jobs.iter().filter(|job| crew.is_suspect(job)).map(|job| job.id).collect();
        self.mark(suspects).await?;
        self.start(crew, chosen.jobs, handle);
        Ok([next, chosen.look_at].into_iter().flatten().fold(now.plus(LONGEST_SLEEP), Timestamp::min))
    }

    /// Starts jobs that have their places.
    fn start<H, F>(&self, crew: &mut Crew, jobs: Vec<Job>, handle: &H)
    where
        H: Fn(Job) -> F,
        F: Future<Output = Outcome> + Send + 'static,
    {
        let now = self.clock.now();
        for job in jobs {
            let span = tracing::info_span!("job", job.id = job.id.0, job.kind = job.kind().as_str());
            let task = crew.tasks.spawn(handle(job.clone()).instrument(span));
            match (crew.is_suspect(&job), job.kind().policy().marked) {
                (true, _) => {}
                (false, Marked::AtOnce) => crew.unmarked.push_front((now, job.id)),
                (false, Marked::Later) => crew.unmarked.push_back((now.plus(MARK_AFTER), job.id)),
            }
            crew.jobs.insert(task.id(), (job, now));
        }
    }

    /// Marks the jobs that have been under way for long; gives when the next may have to be.
    async fn mark_long_running(&self, crew: &mut Crew) -> Result<Option<Timestamp>, StoreError> {
        let now = self.clock.now();
        let mut ids = Vec::new();
        while let Some((at, id)) = crew.unmarked.front().copied() {
            let is_running = crew.running.is_running(id);
            if at > now && is_running {
                break;
            }
            crew.unmarked.pop_front();
            ids.extend(is_running.then_some(id));
        }
        self.mark(ids).await?;
        Ok(crew.unmarked.front().map(|(at, _)| *at))
    }

    /// A mark that cannot be written is missing at worst when the process ends of the very job.
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

    /// Writes down what became of a job, and tells whether others may be due now.
    async fn settle(&self, crew: &mut Crew, ended: Result<(Id, Outcome), JoinError>) -> Result<Look, StoreError> {
        let (id, outcome) = match ended {
            Ok((id, outcome)) => (id, outcome),
            Err(error) => (error.id(), Outcome::Failed("panicked".to_owned())),
        };
        let Some((job, began)) = crew.jobs.remove(&id) else { return Ok(Look::Later) };
        let is_over = matches!(outcome, Outcome::Finished) && !crew.running.is_crowded();
        let ms = u64::try_from(self.clock.now().since(began).as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(r#type = job.kind().as_str(), ms, "job.ended");
        let written = self.write_outcome(&job, began, outcome).await;
        crew.running.end(&job);
        match written {
            // The row is as it was, so the job is tried again: nothing is lost by going on.
            Err(error) if error.is_passing() => {
                tracing::warn!(job.id = job.id.0, %error, "the outcome of job {} could not be written", job.id);
                self.clock.sleep(UNTIL_NEXT_TRY).await;
            }
            other => other?,
        }
        Ok(if is_over { Look::Later } else { Look::Now })
    }

    async fn write_outcome(&self, job: &Job, began: Timestamp, outcome: Outcome) -> Result<(), StoreError> {
        let now = self.clock.now();
        let id = job.id;
        match outcome {
            Outcome::Finished => Ok(()),
            Outcome::Unusable(error) => Err(error),
            Outcome::UntilNextRun => {
                let at = by_clock_of(now, next_run(job.kind(), began, now), began);
                self.store.write(Priority::Answering, move |tx| jobs::postpone(tx, id, at)).await
            }
            Outcome::WaitUntil(at) => {
                let at = by_clock_of(now, at, began);
                self.store.write(Priority::Answering, move |tx| jobs::postpone(tx, id, at)).await
            }
            Outcome::Hindered(error) => {
                tracing::warn!(job.id = id.0, %error, "job {id} cannot be done yet and waits");
                let at = now.plus(UNTIL_HINDRANCE_PASSES);
                self.store.write(Priority::Answering, move |tx| jobs::postpone(tx, id, at)).await
            }
            Outcome::RetryAt(at, error) => {
                tracing::warn!(job.id = id.0, %error, "job {id} failed and will be tried again");
                let at = by_clock_of(now, at, began);
                self.store.write(Priority::Answering, move |tx| jobs::retry(tx, id, at, &error)).await
            }
            Outcome::Failed(error) => {
                let random = now.millis().unsigned_abs().wrapping_mul(id.0.unsigned_abs() | 1);
                let verdict = after_failure(job, began, now, random);
                tracing::warn!(
                    job.id = id.0, job.kind = job.kind().as_str(), job.attempts = job.attempts + 1, %error,
                    "job {id} failed: {}", if verdict == Verdict::Park { "parked" } else { "will be tried again" },
                );
                self.store
                    .write(Priority::Answering, move |tx| match verdict {
                        Verdict::RetryAt(at) => jobs::retry(tx, id, at, &error),
                        Verdict::Park => jobs::park(tx, id, &error),
                    })
                    .await
            }
        }
    }

    async fn drain(&self, mut crew: Crew) -> Result<(), StoreError> {
        let until = self.clock.now().plus(DRAIN);
        while !crew.tasks.is_empty() {
            tokio::select! {
                () = self.clock.sleep_until(until) => break,
                Some(ended) = crew.tasks.join_next_with_id() => { self.settle(&mut crew, ended).await?; }
            }
        }
        if !crew.tasks.is_empty() {
            tracing::info!(jobs.left = crew.tasks.len(), "{} jobs stay for the next start", crew.tasks.len());
        }
        crew.tasks.shutdown().await;
        let cut_short: Vec<JobId> = crew.jobs.values().map(|(job, _)| job.id).collect();
        if cut_short.is_empty() {
            return Ok(());
        }
        self.store.write(Priority::Answering, move |tx| jobs::unmark_started(tx, &cut_short)).await
    }
}

/// Writes what must not be lost, however long the disk is full or the file locked: an answer or a send that is not
/// recorded would be asked for or sent once more. Whoever stops drops the wait.
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

/// When the table is to be looked at after a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Now,
    Later,
}
