//! Writer thread, which owns the write connection. It has two bounded queues, answering before background.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use futures::executor::block_on;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use super::{Result, StoreError, Writer, scrub};

/// Maximum number of waiting tasks in each queue.
const QUEUE: usize = 256;

/// Result of a write, as `dyn Any`. So the code around it is compiled once, and not for each of some four hundred
/// result types.
pub type ErasedResult = Box<dyn Any + Send>;

pub type WriteFn = Box<dyn FnOnce(&Writer<'_>) -> Result<ErasedResult> + Send>;

/// Task of the writer, and the channel that its result is sent to.
pub enum Task {
    /// A write. Its result is sent after the commit.
    Write(WriteFn, oneshot::Sender<Result<ErasedResult>>),
    /// Writes the log into the database file and empties it.
    Fold(oneshot::Sender<Result<()>>),
    /// Rewrites the whole file.
    Rewrite(oneshot::Sender<Result<()>>),
}

#[derive(Clone)]
pub struct Queues {
    pub answering: mpsc::Sender<Task>,
    pub background: mpsc::Sender<Task>,
}

pub fn start(conn: Connection) -> std::io::Result<(Queues, JoinHandle<()>)> {
    let (answering, answering_queue) = mpsc::channel(QUEUE);
    let (background, background_queue) = mpsc::channel(QUEUE);
    let thread = std::thread::Builder::new()
        .name("store-writer".to_owned())
        .spawn(move || run(conn, answering_queue, background_queue))?;
    Ok((Queues { answering, background }, thread))
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

fn run(mut conn: Connection, mut answering: mpsc::Receiver<Task>, mut background: mpsc::Receiver<Task>) {
    while let Some(task) = block_on(next(&mut answering, &mut background)) {
        // Sending a result fails if the caller no longer waits for it. That is no error.
        match task {
            Task::Write(write, reply) => drop(reply.send(commit(&mut conn, write))),
            Task::Fold(reply) => drop(reply.send(scrub::fold(&conn))),
            Task::Rewrite(reply) => drop(reply.send(scrub::rewrite(&conn))),
        }
        #[cfg(feature = "testkit")]
        super::images::take(&conn);
    }
    // The queues are closed, because the last clone of the handle was dropped.
    if let Err(error) = scrub::fold(&conn) {
        tracing::warn!(%error, "the write-ahead log was not checkpointed at shutdown");
    }
}

async fn next(answering: &mut mpsc::Receiver<Task>, background: &mut mpsc::Receiver<Task>) -> Option<Task> {
    tokio::select! {
        biased;
        Some(task) = answering.recv() => Some(task),
        Some(task) = background.recv() => Some(task),
        else => None,
    }
}

/// Runs a write in a transaction of its own. An error or a panic undoes all its changes.
fn commit(conn: &mut Connection, write: WriteFn) -> Result<ErasedResult> {
    // Immediate: takes the write lock at the start of the transaction. If it were taken later, SQLite could not wait
    // for a lock of another program.
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Returning without a commit drops the transaction, which rolls it back.
    let written = catch_unwind(AssertUnwindSafe(|| write(&tx))).unwrap_or(Err(StoreError::Panicked))?;
    tx.commit()?;
    Ok(written)
}
