//! Deletes what has been kept long enough, a little at a time, and puts in order what is kept.

use std::time::Duration;

use crate::clock::Clock;
use crate::config::PrivacyConfig;
use crate::domain::{ChatKey, Timestamp};
use crate::privacy::{Cutoffs, cutoffs, repeats};
use crate::scheduler::run::Outcome;
use crate::store::forget::{self, Leave, Manner};
use crate::store::search::Merging;
use crate::store::{self, Priority, Store, StoreError, backups, inbox, jobs, retention, scrub};

/// Rows per transaction, so that one takes less than 5 ms and answering never waits for long.
const AT_ONCE: u32 = 8;
/// The same for rows of jobs, which are small.
const JOB_ROWS_AT_ONCE: u32 = 100;
/// A file up to this size is written anew at once, in about a second or two; a larger one at a quiet hour.
const SMALL_FILE: u64 = 64 * 1024 * 1024;
/// The hour of the day, in UTC, that is taken to be quiet.
const QUIET_HOUR: i64 = 3;
/// Nobody waits longer than this for it.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Keeps what is promised about keeping.
pub struct Keeper {
    pub store: Store,
    pub clock: Clock,
    pub config: PrivacyConfig,
}

impl Keeper {
    /// Works on the `retention` job, which comes again and again.
    pub async fn run(&self) -> Outcome {
        // By when it began: what fell due while it ran is not put off for an hour.
        let now = self.clock.now();
        let kept = self.keep_promises(now).await;
        self.merge_index(now).await;
        match kept {
            Ok(deleted) => {
                if deleted > 0 {
                    tracing::info!(deleted, "deleted {deleted} rows that were kept long enough");
                }
                Outcome::UntilNextRun
            }
            // It is tried again at the next run, whatever happens: giving up would break a promise.
            Err(error) => Outcome::Failed(error.to_string()),
        }
    }

    async fn keep_promises(&self, now: Timestamp) -> store::Result<usize> {
        let Cutoffs { messages, raw_updates, removals } = cutoffs(now, self.config.retention);
        let mut deleted = 0;
        let ages = self.store.read(move |conn| retention::cutoffs(conn, now, messages)).await?;
        for (chat, cutoff) in ages {
            deleted += self.forget_before(chat, cutoff).await?;
        }
        let abandoned = self.store.read(move |conn| retention::abandoned(conn, removals)).await?;
        for chat in abandoned {
            deleted += self.forget_before(chat, now).await?;
            self.background(move |tx| forget::rest_of_chat(tx, chat, now)).await?;
        }
        deleted += self.repeat(move |tx| inbox::prune(tx, raw_updates, AT_ONCE)).await?;
        if let Some(cutoff) = messages {
            deleted += self.repeat(move |tx| retention::prune_replies(tx, cutoff, AT_ONCE)).await?;
        }
        deleted += self.repeat(move |tx| jobs::prune(tx, now, JOB_ROWS_AT_ONCE)).await?;
        deleted += backups::prune(self.store.path(), now)?;
        if let Some(since) = self.scrub_due(now).await? {
            self.store.rewrite().await?;
            // A copy that was made in between has the same leftovers.
            prepare(&self.store, Some(since)).await?;
        }
        Ok(deleted)
    }

    /// Every hour what has come in, and once a night everything. No promise hangs on it, so what goes wrong waits for the next.
    async fn merge_index(&self, now: Timestamp) {
        let merging = if hour(now) == QUIET_HOUR { Merging::All } else { Merging::Alike };
        if let Err(error) = self.store.merge_index(merging).await {
            tracing::warn!(%error, "the full-text index could not be merged yet");
        }
    }

    async fn forget_before(&self, chat: ChatKey, cutoff: Timestamp) -> store::Result<usize> {
        let manner = Manner { leave: Leave::Nothing, repeats };
        self.repeat(move |tx| {
            let rows = retention::expired(tx, chat, cutoff, AT_ONCE)?;
            forget::messages(tx, &rows, manner)?;
            Ok(rows.len())
        })
        .await
    }

    /// Does a piece of work until there is nothing left of it.
    async fn repeat<F>(&self, piece: F) -> store::Result<usize>
    where
        F: Fn(&store::Writer<'_>) -> store::Result<usize> + Copy + Send + 'static,
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
        F: FnOnce(&store::Writer<'_>) -> store::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.store.write(Priority::Background, work).await
    }

    /// Since when the file holds leftovers, if this is the time to end that.
    async fn scrub_due(&self, now: Timestamp) -> store::Result<Option<Timestamp>> {
        let (since, size) = self.store.read(|conn| Ok((scrub::wanted_since(conn)?, store::size(conn)?))).await?;
        let is_time =
            |since: &Timestamp| size <= SMALL_FILE || hour(now) == QUIET_HOUR || now.since(*since) > LONGEST_WAIT;
        Ok(since.filter(is_time))
    }
}

/// The hour of the day, in UTC.
fn hour(now: Timestamp) -> i64 {
    now.secs().rem_euclid(86_400) / 3600
}

/// Deletes the automatic copies of the database that may hold what is about to be forgotten; `oldest` is when the first
/// of it was sent. Nothing in them can be forgotten by itself.
///
/// # Errors
/// When a copy cannot be deleted.
pub async fn prepare(store: &Store, oldest: Option<Timestamp>) -> store::Result<()> {
    let Some(oldest) = oldest else { return Ok(()) };
    let path = store.path().to_owned();
    let deleted = tokio::task::spawn_blocking(move || backups::delete_since(&path, oldest)).await;
    let deleted = deleted.map_err(|_| StoreError::Panicked)??;
    if deleted > 0 {
        tracing::info!(deleted, "deleted {deleted} automatic copies of the database that hold what is to be forgotten");
    }
    Ok(())
}

/// What becomes of a log that another program holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldLog {
    /// Clearing up fails, and is to be tried again.
    IsWaitedFor,
    /// It keeps what was forgotten until it is overwritten.
    IsLeft,
}

/// Clears up after something was forgotten: the log, and what is left in unused parts of the file.
///
/// # Errors
/// Those of the store. The unused parts of a large file wait for a quiet hour, and what goes wrong with them is not an
/// error here: the job that comes every hour tries again.
pub async fn clear_up(store: &Store, held: HeldLog) -> store::Result<()> {
    match store.fold().await {
        Err(StoreError::Busy(_)) if held == HeldLog::IsLeft => tracing::warn!(
            "another program, such as Litestream, reads the database all the time: its log keeps what was forgotten \
             until it is overwritten",
        ),
        folded => folded?,
    }
    // A copy that was made since the first of it was forgotten has the same leftovers as the file.
    prepare(store, store.read(scrub::wanted_since).await?).await?;
    if store.read(store::size).await? <= SMALL_FILE {
        match store.rewrite().await {
            // The file was written anew, by way of the log that was told of above.
            Ok(()) => {}
            Err(StoreError::Busy(_)) if held == HeldLog::IsLeft => {}
            Err(error) => tracing::warn!(%error, "the file could not be written anew yet"),
        }
    }
    Ok(())
}
