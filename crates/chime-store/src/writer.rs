//! Writer thread, which owns the write connection.
//!
//! It has two bounded queues, answering before background. Writes that are waiting when a transaction starts share its
//! commit, because the sync to disk is the expensive part. Each of them runs in its own savepoint, so that an error or
//! a panic affects no other.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use futures::executor::block_on;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{Result, StoreError, Writer, scrub};

/// Maximum number of writes that share a commit. Enough to save many syncs, but few enough that the first write need
/// not wait long for its commit.
const GROUP: usize = 64;
const QUEUE: usize = 256;

/// Result of a write, as `dyn Any`. So the code around it is compiled once, and not for each of some four hundred
/// result types.
pub type ErasedResult = Box<dyn Any + Send>;

/// A write, and the channel that its result is sent to after the commit.
pub struct Work {
    pub run: WriteFn,
    pub reply: oneshot::Sender<Result<ErasedResult>>,
}

pub type WriteFn = Box<dyn FnOnce(&Writer<'_>) -> Result<ErasedResult> + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransactionUse {
    /// A single write. It needs no savepoint, because rolling back the transaction undoes the write, and a savepoint
    /// would copy pages.
    Alone,
    Shared,
}

/// Task of the writer: a write, or work that cannot run in a transaction.
pub enum Task {
    Write(Work),
    /// Writes the log into the database file and empties it.
    Fold(oneshot::Sender<Result<()>>),
    /// Rewrites the whole file.
    Rewrite(oneshot::Sender<Result<()>>),
}

pub struct WriterThread {
    pub answering: mpsc::Sender<Work>,
    pub background: mpsc::Sender<Task>,
    pub thread: JoinHandle<()>,
}

pub fn start(conn: Connection) -> std::io::Result<WriterThread> {
    let (answering, answering_queue) = mpsc::channel(QUEUE);
    let (background, background_queue) = mpsc::channel(QUEUE);
    let thread = std::thread::Builder::new()
        .name("store-writer".to_owned())
        .spawn(move || run(conn, answering_queue, background_queue))?;
    Ok(WriterThread { answering, background, thread })
}

/// Runs a write and turns a panic into [`StoreError::Panicked`].
fn attempt(tx: &Writer<'_>, company: TransactionUse, run: WriteFn) -> Result<ErasedResult> {
    match company {
        TransactionUse::Alone => catch_unwind(AssertUnwindSafe(|| run(tx))).unwrap_or(Err(StoreError::Panicked)),
        TransactionUse::Shared => in_savepoint(tx, run),
    }
}

/// Runs `work` in a savepoint: if it fails or panics, its own changes are undone, but not earlier ones in the
/// transaction.
pub fn in_savepoint<T>(tx: &Writer<'_>, work: impl FnOnce(&Writer<'_>) -> Result<T>) -> Result<T> {
    let (mut work, mut result) = (Some(work), None);
    savepoint(tx, &mut |tx| {
        result = work.take().map(|work| work(tx)).transpose()?;
        Ok(())
    })?;
    result.ok_or(StoreError::Panicked)
}

fn savepoint(tx: &Writer<'_>, work: &mut dyn FnMut(&Writer<'_>) -> Result<()>) -> Result<()> {
    let run = |sql| -> Result<()> {
        tx.prepare_cached(sql)?.execute([])?;
        Ok(())
    };
    run("SAVEPOINT work")?;
    let outcome = catch_unwind(AssertUnwindSafe(|| work(tx))).unwrap_or(Err(StoreError::Panicked));
    match &outcome {
        Ok(_) => {}
        Err(_) => run("ROLLBACK TO work")?,
    }
    run("RELEASE work")?;
    outcome
}

fn run(mut conn: Connection, mut answering: mpsc::Receiver<Work>, mut background: mpsc::Receiver<Task>) {
    while let Some(task) = block_on(next(&mut answering, &mut background)) {
        // Sending a result fails if the caller no longer waits for it. That is no error.
        match task {
            Task::Fold(reply) => drop(reply.send(scrub::fold(&conn))),
            Task::Rewrite(reply) => drop(reply.send(scrub::rewrite(&conn))),
            Task::Write(first) => {
                let mut group = vec![first];
                while group.len() < GROUP {
                    match answering.try_recv() {
                        Ok(work) => group.push(work),
                        Err(_) => break,
                    }
                }
                commit(&mut conn, group);
            }
        }
        #[cfg(feature = "testkit")]
        super::images::take(&conn);
    }
    // The queues are closed, because the last clone of the handle was dropped.
    if let Err(error) = scrub::fold(&conn) {
        tracing::warn!(%error, "the write-ahead log was not folded in at the end");
    }
}

async fn next(answering: &mut mpsc::Receiver<Work>, background: &mut mpsc::Receiver<Task>) -> Option<Task> {
    tokio::select! {
        biased;
        Some(work) = answering.recv() => Some(Task::Write(work)),
        Some(task) = background.recv() => Some(task),
        else => None,
    }
}

fn commit(conn: &mut Connection, group: Vec<Work>) {
    let company = if group.len() == 1 { TransactionUse::Alone } else { TransactionUse::Shared };
    let (runs, replies): (Vec<WriteFn>, Vec<_>) = group.into_iter().map(|work| (work.run, work.reply)).unzip();
    // Immediate: takes the write lock at the start of the transaction. If it were taken later, SQLite could not wait
    // for a lock of another program.
    let (outcomes, committed) = match conn.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(tx) => {
            let outcomes: Vec<_> = runs.into_iter().map(|run| attempt(&tx, company, run)).collect();
            let is_nothing_left = company == TransactionUse::Alone && outcomes.iter().all(Result::is_err);
            (outcomes, if is_nothing_left { undo(tx) } else { tx.commit() }.map_err(StoreError::from))
        }
        Err(error) => {
            let error = StoreError::from(error);
            (runs.iter().map(|_| Err(error.same_class())).collect(), Ok(()))
        }
    };
    for (reply, outcome) in replies.into_iter().zip(outcomes) {
        let committed = committed.as_ref().map_err(StoreError::same_class);
        let _ = reply.send(committed.and(outcome));
    }
}

/// Rolls a transaction back. After some errors SQLite has already done so.
fn undo(tx: Transaction<'_>) -> rusqlite::Result<()> {
    if tx.is_autocommit() { Ok(()) } else { tx.rollback() }
}
