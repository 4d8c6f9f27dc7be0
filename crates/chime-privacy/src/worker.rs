//! Deletes expired data in small transactions, and removes from the database file the bytes of deleted data that SQLite
//! leaves in unused pages.

use std::path::PathBuf;
use std::time::Duration;

use parking_lot::Mutex;

use crate::{Cutoffs, ExpiryClock, cutoffs, expiry_clock, repeats};
use chime_core::{ChatKey, Job, Timestamp};
use chime_jobs::{Base, JobError, JobOutcome, JobResult};
use chime_store::backups::QUIET_HOUR;
use chime_store::derived;
use chime_store::family::Cause;
use chime_store::forget::{self, ForgetOptions, Replacement};
use chime_store::search::Merging;
use chime_store::{
    Priority, StoreError, backups, concepts, consent, inbox, jobs, memory, pages, retention, scrub, usage,
};

/// Number of rows to delete in one transaction: few enough that it takes less than 5 ms, because answers wait for it.
const AT_ONCE: u32 = 8;
/// The same number for the job table, whose rows are small.
const JOB_ROWS_AT_ONCE: u32 = 100;
/// Largest database, in bytes, that is rewritten immediately, which takes 1 to 2 seconds. A larger one is rewritten
/// only at `QUIET_HOUR`.
const SMALL_FILE: u64 = 64 * 1024 * 1024;
/// A large database is rewritten at any hour once its deleted data is older than this.
const LONGEST_WAIT: Duration = Duration::from_hours(24);
/// Delay until the next run after the clocks could not be read or differed too much.
const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// The database counts as quiet if no write for an answer happened for this time.
const QUIET: Duration = Duration::from_millis(250);
/// Number of checks for a quiet database in one run of the job. After them, the job is scheduled again, so that other
/// jobs can run.
const LOOKS: u32 = 20;
/// The job no longer waits for a quiet database if text was deleted longer ago than this.
const NEVER_QUIET: Duration = Duration::from_mins(5);
/// Factor: after a rewrite, the next one waits this many times its duration, because no other write is possible during
/// a rewrite.
const REST: u32 = 8;
/// Longest pause between two rewrites.
const LONGEST_REST: Duration = Duration::from_mins(5);
/// Number of retries while a reader in another program prevents emptying the write-ahead log. A running backup ends
/// within this time; Litestream never stops reading.
const WAITS_FOR_THE_LOG: u32 = 3;

/// Worker of the `retention` and `scrub` jobs, which delete expired data and clean up the database file.
pub struct RetentionWorker {
    pub base: Base,
    /// Earliest time of the next rewrite of the database file by a `scrub` job.
    pub rests_until: Mutex<Timestamp>,
}

impl RetentionWorker {
    pub async fn run(&self) -> JobResult {
        // Read once at the start: data that expires during the run is left to the next run.
        let now = self.base.clock.now();
        self.merge_index(now).await;
        let aged_by = match self.expiry_clock().await {
            Ok(ExpiryClock::By(aged_by)) => aged_by,
            Ok(ExpiryClock::Refused(skew)) => {
                tracing::error!(
                    skew_s = skew.as_secs(),
                    "the clock of this machine and Telegram's are {} s apart: nothing is deleted for its age",
                    skew.as_secs(),
                );
                return Ok(JobOutcome::WaitUntil(now.plus(LOOK_AGAIN)));
            }
            Err(error) => return Err(JobError::RetryAt(now.plus(LOOK_AGAIN), error.to_string())),
        };
        match self.delete_expired(aged_by, now).await {
            Ok(deleted) => {
                if deleted > 0 {
                    tracing::info!(deleted, "deleted {deleted} rows that were kept long enough");
                }
                Ok(JobOutcome::UntilNextRun)
            }
            Err(error) if error.is_damage() => Err(error.into()),
            // The next periodic run tries again. The job is never given up, because members were promised that old data
            // is deleted.
            Err(error) => Err(JobError::Failed(error.to_string())),
        }
    }

    async fn expiry_clock(&self) -> chime_store::Result<ExpiryClock> {
        // The date in the headers of the response is needed.
        let met = self.base.refresh_bot().await;
        let (here, there) = (self.base.clock.now(), self.base.telegram.server_date().filter(|_| met.is_ok()));
        let newest = self.base.store.read(retention::newest).await?;
        Ok(expiry_clock(here, there, newest))
    }

    /// Deletes everything that is expired at `now`, the checked time, and rewrites the file if that is due by `here`,
    /// this machine's time. Returns the number of deleted rows.
    async fn delete_expired(&self, now: Timestamp, here: Timestamp) -> chime_store::Result<usize> {
        let kept = self.base.config.store.backups.as_ref().map(|backups| backups.kept);
        let copies = kept.map_or(Duration::ZERO, backups::longest_age);
        let Cutoffs { messages, updates_and_pages, removals, contexts } =
            cutoffs(now, self.base.config.privacy.retention, copies);
        let mut deleted = 0;
        let ages = self.base.store.read(move |conn| retention::cutoffs(conn, now, messages, copies)).await?;
        for (chat, cutoff) in ages {
            deleted += self.forget_before(chat, cutoff).await?;
            deleted += self.repeat(move |tx| memory::drop_expired(tx, chat, cutoff, AT_ONCE)).await?;
            deleted += self.background(move |tx| retention::prune_names(tx, chat)).await?;
            deleted += self.background(move |tx| retention::prune_topic_names(tx, chat)).await?;
        }
        let abandoned = self.base.store.read(move |conn| retention::abandoned(conn, removals)).await?;
        if !abandoned.is_empty() {
            // Every copy may hold something of these chats.
            prepare(&self.base, Some(Timestamp::default())).await?;
        }
        for chat in abandoned {
            deleted += self.forget_before(chat, now).await?;
            self.background(move |tx| derived::chat_gone(tx, chat, now)).await?;
        }
        deleted += self.repeat(move |tx| concepts::prune_contexts(tx, contexts, AT_ONCE)).await?;
        deleted += self.repeat(move |tx| inbox::prune(tx, updates_and_pages, AT_ONCE)).await?;
        deleted += self.repeat(move |tx| pages::prune(tx, updates_and_pages, AT_ONCE)).await?;
        let empty = self.base.store.read(move |conn| retention::empty_chats(conn, removals)).await?;
        for chat in empty {
            deleted += self.background(move |tx| retention::remove_chat(tx, chat, now)).await?;
        }
        if let Some(cutoff) = messages {
            deleted += self.repeat(move |tx| retention::prune_usage(tx, cutoff, AT_ONCE)).await?;
            deleted += self.repeat(move |tx| retention::prune_replies(tx, cutoff, AT_ONCE)).await?;
        }
        self.background(move |tx| usage::forget_strangers(tx, now)).await?;
        deleted += self.repeat(move |tx| jobs::prune(tx, now, JOB_ROWS_AT_ONCE)).await?;
        deleted += backups::prune(self.base.store.path(), now)?;
        let folders = copy_folders(&self.base).await?;
        let longest = backups::longest_age(kept.unwrap_or(usize::MAX));
        deleted += backups::prune_daily(self.base.store.path(), &folders, longest, here)?;
        if let Some(since) = self.scrub_due(here).await? {
            self.base.store.rewrite().await?;
            // Backups made since then contain the same deleted data.
            prepare(&self.base, Some(since)).await?;
        }
        Ok(deleted)
    }

    /// Runs the `scrub` job when the database is quiet: removes the bytes of deleted data from the write-ahead log and,
    /// by rewriting the file, from unused pages. A large file is left to the `retention` job at `QUIET_HOUR`.
    pub async fn scrub(&self, job: &Job) -> JobResult {
        let now = self.base.clock.now();
        let rests_until = *self.rests_until.lock();
        // A remaining pause longer than the maximum means that the clock was set back: the pause is then ignored.
        if rests_until > now && rests_until.since(now) <= LONGEST_REST {
            return Ok(JobOutcome::WaitUntil(rests_until));
        }
        let since = self.base.store.read(scrub::wanted_since).await?;
        let waited = since.map_or(Duration::ZERO, |since| now.since(since));
        if !self.is_quiet().await && waited < NEVER_QUIET {
            return Ok(JobOutcome::WaitUntil(self.base.clock.now()));
        }
        let is_small = self.base.store.read(chime_store::size).await? <= SMALL_FILE;
        // A failure here must not keep the copies, whose deletion may free the disk that this needs.
        let indexed = if is_small { self.base.store.rewrite_index().await } else { Ok(()) };
        let cleared = match self.base.store.fold().await {
            // Backups made since the first of this data was deleted contain it too.
            Ok(()) => prepare(&self.base, since).await,
            Err(error) => Err(error),
        };
        let watch = self.base.clock.stopwatch();
        let cleared = match cleared.and(indexed) {
            Ok(()) if is_small => self.base.store.rewrite().await,
            other => other,
        };
        let rests_until = self.base.clock.now().plus((watch.elapsed() * REST).min(LONGEST_REST));
        *self.rests_until.lock() = rests_until;
        match cleared {
            // Reported as a failure, not as a wait, so that attempts are counted: the reader may never stop.
            Err(error @ StoreError::Busy(_)) if job.attempts < WAITS_FOR_THE_LOG => {
                return Err(JobError::Failed(format!("clearing up after forgetting: {error}")));
            }
            Err(StoreError::Busy(_)) => tracing::warn!(
                "another program, such as Litestream, reads the database all the time: its log keeps what was \
                 forgotten until it is overwritten",
            ),
            cleared => cleared?,
        }
        let job = job.clone();
        let (is_held, ended) = self
            .background(move |tx| match consent::is_any_held(tx)? {
                true => Ok((true, false)),
                false => Ok((false, jobs::finish_unless_moved(tx, &job)?)),
            })
            .await?;
        let again_after = if is_held { scrub::HELD_FOR } else { Duration::ZERO };
        Ok(if ended { JobOutcome::Finished } else { JobOutcome::WaitUntil(self.base.clock.now().plus(again_after)) })
    }

    async fn is_quiet(&self) -> bool {
        for _ in 0..LOOKS {
            let before = self.base.store.answering_writes();
            self.base.clock.sleep(QUIET).await;
            if self.base.store.answering_writes() == before {
                return true;
            }
        }
        false
    }

    /// Merges segments of the full-text index: small ones in every run, all at `QUIET_HOUR`. Errors are only logged,
    /// because the next run tries again.
    async fn merge_index(&self, now: Timestamp) {
        let store = &self.base.store;
        let is_wanted = store.read(scrub::wanted_since).await.is_ok_and(|since| since.is_some());
        let merged = match (hour(now) == QUIET_HOUR, is_wanted) {
            (true, true) => store.rewrite_index().await,
            (true, false) => store.merge_index(Merging::All).await,
            (false, _) => store.merge_index(Merging::Alike).await,
        };
        if let Err(error) = merged {
            tracing::warn!(%error, "the full-text index could not be merged yet");
        }
    }

    async fn forget_before(&self, chat: ChatKey, cutoff: Timestamp) -> chime_store::Result<usize> {
        let options = ForgetOptions { cause: Cause::Expired, replacement: Replacement::Nothing, repeats };
        self.repeat(move |tx| {
            let rows = retention::expired(tx, chat, cutoff, AT_ONCE)?;
            forget::messages(tx, &rows, options)?;
            Ok(rows.len())
        })
        .await
    }

    /// Runs `piece`, each time in its own transaction, until it returns 0 rows. Returns the total number of rows.
    async fn repeat<F>(&self, piece: F) -> chime_store::Result<usize>
    where
        F: Fn(&chime_store::Writer<'_>) -> chime_store::Result<usize> + Copy + Send + 'static,
    {
        let mut total = 0;
        loop {
            match self.background(piece).await? {
                0 => return Ok(total),
                done => total += done,
            }
        }
    }

    async fn background<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: FnOnce(&chime_store::Writer<'_>) -> chime_store::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.base.store.write(Priority::Background, work).await
    }

    /// Returns the time of the oldest deletion whose bytes may remain in the file, or `None` if there is none or it is
    /// not time to rewrite the file.
    async fn scrub_due(&self, now: Timestamp) -> chime_store::Result<Option<Timestamp>> {
        let (since, size) =
            self.base.store.read(|conn| Ok((scrub::wanted_since(conn)?, chime_store::size(conn)?))).await?;
        let is_time =
            |since: &Timestamp| size <= SMALL_FILE || hour(now) == QUIET_HOUR || now.since(*since) > LONGEST_WAIT;
        Ok(since.filter(is_time))
    }
}

/// Returns the hour of the day, in UTC.
fn hour(now: Timestamp) -> i64 {
    now.secs().rem_euclid(86_400) / 3600
}

/// Returns the folders with daily copies: `BACKUP_DIR` and earlier ones.
async fn copy_folders(base: &Base) -> chime_store::Result<Vec<PathBuf>> {
    let folder = base.config.store.backups.as_ref().map(|backups| backups.folder.clone());
    Ok(base.store.read(backups::folders).await?.into_iter().chain(folder).collect())
}

/// Deletes the automatic backups made since `oldest`, because they may contain data that is deleted or about to be, and
/// a backup cannot be changed. Does nothing if `oldest` is `None`.
pub async fn prepare(base: &Base, oldest: Option<Timestamp>) -> chime_store::Result<()> {
    let Some(oldest) = oldest else { return Ok(()) };
    let (store, folders) = (base.store.clone(), copy_folders(base).await?);
    let deleting = move || backups::delete_since(store.path(), &folders, oldest);
    let deleted = tokio::task::spawn_blocking(deleting).await;
    let deleted = deleted.map_err(|_| StoreError::Panicked)??;
    if deleted > 0 {
        tracing::info!(deleted, "deleted {deleted} automatic copies of the database that hold what is to be forgotten");
    }
    Ok(())
}
