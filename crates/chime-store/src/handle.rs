//! Handle to the database, shared by all crates: [`Store::write`] and [`Store::read`].

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use futures::FutureExt;
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use super::open::{self, Opened};
use super::search::{self, Merging};
use super::writer::{self, ErasedResult, Queues, Task, WriteFn};
use super::{Reader, Result, StoreError, Writer};
use chime_core::Timestamp;

/// Number of read connections. Each connection has its own page cache.
const READERS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Priority {
    /// Storing messages and answering: runs before background writes.
    Answering,
    /// Writes that no member waits for. Keep each under 5 ms, because writes for answers cannot interrupt it.
    Background,
}

/// Open database. Cloning it is cheap. It is closed by [`Store::close`], or when the last clone is dropped.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    writer: Mutex<Option<Running>>,
    readers: Mutex<Vec<Connection>>,
    free_readers: Arc<Semaphore>,
    answering_writes: AtomicU64,
}

struct Running {
    queues: Queues,
    thread: JoinHandle<()>,
    _lock: File,
}

type ReadTask = Box<dyn FnOnce(&Reader) -> Result<ErasedResult> + Send>;

impl Store {
    /// Opens the file at `path` for writing and locks it against a second daemon. Creates, checks, backs up and
    /// migrates it as needed.
    pub fn open(path: &Path, now: Timestamp) -> Result<(Self, Opened)> {
        let lock = open::lock(path)?;
        let (conn, opened) = open::open_for_writing(path, now)?;
        let readers = (0..READERS).map(|_| open::open_for_reading(path)).collect::<Result<Vec<_>>>()?;
        let started = writer::start(conn);
        let (queues, thread) = started.map_err(|error| open::file_error("cannot start the writer of", path, error))?;
        let running = Running { queues, thread, _lock: lock };
        let store = Self::around(path, Some(running), readers);
        Ok((store, opened))
    }

    /// Opens the file at `path` read-only. Works while a daemon uses it.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        Ok(Self::around(path, None, vec![open::open_for_reading(path)?]))
    }

    fn around(path: &Path, running: Option<Running>, readers: Vec<Connection>) -> Self {
        let free_readers = Arc::new(Semaphore::new(readers.len()));
        let shared = Shared {
            path: path.to_owned(),
            writer: Mutex::new(running),
            readers: Mutex::new(readers),
            free_readers,
            answering_writes: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared) }
    }

    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Runs `work` in a transaction on the writer thread, and returns when this is committed and synced to disk. If
    /// `work` returns an error, all its changes are rolled back.
    pub fn write<T, F>(&self, priority: Priority, work: F) -> impl Future<Output = Result<T>> + Send
    where
        F: FnOnce(&Writer<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let run: WriteFn = Box::new(move |tx| Ok(Box::new(work(tx)?)));
        self.write_any(priority, run).map(downcast::<T> as fn(_) -> _)
    }

    async fn write_any(&self, priority: Priority, run: WriteFn) -> Result<ErasedResult> {
        self.submit(priority, |reply| Task::Write(run, reply)).await
    }

    /// Gives the writer a task and waits for its result.
    async fn submit<T>(&self, priority: Priority, task: impl FnOnce(oneshot::Sender<Result<T>>) -> Task) -> Result<T> {
        let queues = self.shared.writer.lock().as_ref().map(|running| running.queues.clone());
        let queues = queues.ok_or(StoreError::Closed)?;
        let queue = match priority {
            Priority::Answering => {
                self.shared.answering_writes.fetch_add(1, Ordering::Relaxed);
                queues.answering
            }
            Priority::Background => queues.background,
        };
        let (reply, outcome) = oneshot::channel();
        queue.send(task(reply)).await.map_err(|_| StoreError::Closed)?;
        outcome.await.map_err(|_| StoreError::Closed)?
    }

    /// Returns the number of `Answering` writes so far. If two calls return the same number, no such write was
    /// requested between them.
    pub fn answering_writes(&self) -> u64 {
        self.shared.answering_writes.load(Ordering::Relaxed)
    }

    /// Writes the write-ahead log into the database file and empties it, so that deleted content is no longer in the
    /// log.
    pub async fn fold(&self) -> Result<()> {
        self.submit(Priority::Background, Task::Fold).await
    }

    /// Rewrites the whole file, so that no deleted content remains in it. Blocks other writes until it is done.
    pub async fn rewrite(&self) -> Result<()> {
        self.submit(Priority::Background, Task::Rewrite).await
    }

    /// Merges segments of the full-text index in small background writes. If it fails, the next call continues where it
    /// stopped.
    pub async fn merge_index(&self, mut merging: Merging) -> Result<()> {
        /// Number of index pages that one transaction merges, which takes about 5 ms.
        const AT_ONCE: i32 = 50;
        while self.write(Priority::Background, move |tx| search::merge(tx, merging, AT_ONCE)).await? {
            merging = Merging::Alike;
        }
        Ok(())
    }

    /// Rewrites the full-text index, in short transactions, so that nothing of deleted words is left in it.
    pub async fn rewrite_index(&self) -> Result<()> {
        self.write(Priority::Background, search::unsettle).await?;
        let merged = self.merge_index(Merging::All).await;
        self.write(Priority::Background, search::settle).await?;
        merged
    }

    /// Runs `work` on a read connection, in parallel with the writer. `work` sees a single snapshot of the database.
    pub fn read<T, F>(&self, work: F) -> impl Future<Output = Result<T>> + Send
    where
        F: FnOnce(&Reader) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let reading: ReadTask = Box::new(move |conn| Ok(Box::new(work(conn)?)));
        self.read_any(reading).map(downcast::<T> as fn(_) -> _)
    }

    /// Waits for a free read connection and runs `work` with it, on a thread that may block.
    async fn read_any(&self, work: ReadTask) -> Result<ErasedResult> {
        let free_readers = Arc::clone(&self.shared.free_readers);
        let permit = free_readers.acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let shared = Arc::clone(&self.shared);
        let lend = move || {
            // Released together with the connection, even if the caller has stopped waiting for the result.
            let _permit = permit;
            shared.read(work)
        };
        tokio::task::spawn_blocking(lend).await.map_err(|_| StoreError::Panicked)?
    }

    /// Closes the database: waits for the writes that were accepted, checkpoints the log and releases the lock. Later
    /// calls return [`StoreError::Closed`].
    pub async fn close(&self) {
        let running = self.shared.writer.lock().take();
        self.shared.free_readers.close();
        self.shared.readers.lock().clear();
        if let Some(Running { queues, thread, _lock }) = running {
            drop(queues);
            // A panic of the writer was already reported.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

impl Shared {
    /// Runs `work` on a pooled read connection. The caller must hold a permit of `free_readers`, so that one is free.
    fn read<T>(&self, work: impl FnOnce(&Reader) -> Result<T>) -> Result<T> {
        let conn = self.readers.lock().pop().ok_or(StoreError::Closed)?;
        // Returns the connection to the pool even if `work` panics.
        let lent = PooledConnection { shared: self, conn: Some(conn) };
        let conn = lent.conn.as_ref().ok_or(StoreError::Closed)?;
        let snapshot = conn.unchecked_transaction()?;
        work(&snapshot)
    }
}

/// Pooled read connection, returned on drop.
struct PooledConnection<'a> {
    shared: &'a Shared,
    conn: Option<Connection>,
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take()
            && !self.shared.free_readers.is_closed()
        {
            self.shared.readers.lock().push(conn);
        }
    }
}

/// Downcasts a type-erased result to the type that the caller expects.
fn downcast<T: 'static>(outcome: Result<ErasedResult>) -> Result<T> {
    outcome?.downcast().map(|given| *given).map_err(|_| StoreError::Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;

    #[tokio::test]
    async fn a_read_that_nobody_waits_for_any_more_still_holds_its_connection() {
        let (_folder, store) = new_store().await;
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        let gate = Arc::new(std::sync::Barrier::new(READERS + 1));
        for _ in 0..READERS {
            let (begun, gate) = (begun.clone(), Arc::clone(&gate));
            let read = store.read(move |_| {
                begun.send(()).map_err(|_| StoreError::Closed)?;
                gate.wait();
                Ok(())
            });
            tokio::select! {
                _ = read => panic!("the gate holds it"),
                begun = begins.recv() => assert!(begun.is_some()),
            }
        }
        let permits = store.shared.free_readers.available_permits();
        let (next, ()) = tokio::join!(store.read(|_| Ok(7)), async {
            tokio::task::spawn_blocking(move || gate.wait()).await.expect("they end");
        });
        assert_eq!(permits, 0, "nobody else may ask for a connection meanwhile");
        assert_eq!(next.ok(), Some(7));
    }
}
