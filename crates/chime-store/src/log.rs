//! Maintenance of the write-ahead log. A separate thread preallocates and checkpoints it while the writer works, so
//! that commits stay fast.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::{Result, open};

/// Number of pages in the log that triggers a checkpoint; the same as SQLite's default.
const FOLD_AT: i64 = 1000;
/// Number of pages at which SQLite itself checkpoints within a commit, in case the log thread is too slow.
const FOLD_YOURSELF_AT: i64 = 8 * FOLD_AT;
/// Number of pages at which the log is preallocated. Short-lived processes do not write this many.
const LAY_OUT_AT: i64 = 64;
/// Preallocated size of the log. It has space for the pages of one checkpoint and for commits during the checkpoint.
const LAID_OUT_BYTES: u64 = 8 * 1024 * 1024;
/// Size to which SQLite truncates a log that grew larger during a long read.
const KEPT_BYTES: i64 = 64 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chore {
    LayOut,
    Fold,
}

/// Handle of the thread that maintains the log. The writer calls it after each commit.
pub struct Log {
    chores: Option<SyncSender<Chore>>,
    thread: Option<JoinHandle<()>>,
    is_laid_out: bool,
}

impl Log {
    /// Starts the thread, which from now on makes the checkpoints, so that SQLite does not make them within commits.
    /// `writer` is the write connection of the database at `path`.
    pub fn tend(writer: &Connection, path: &Path) -> Result<Self> {
        writer.pragma_update(None, "wal_autocheckpoint", FOLD_YOURSELF_AT)?;
        writer.pragma_update(None, "journal_size_limit", KEPT_BYTES)?;
        let conn = open::open_for_reading(path)?;
        // A checkpoint syncs the log before it changes the database file.
        conn.pragma_update(None, "synchronous", "full")?;
        // A queue of one chore is enough, because a checkpoint includes all commits made before it.
        let (chores, queue) = sync_channel(1);
        let log = open::beside(path, "-wal");
        let thread = std::thread::Builder::new().name("store-log".to_owned()).spawn(move || work(&conn, &log, &queue));
        let thread =
            thread.map_err(|source| open::file_error("cannot start the thread for the log of", path, source))?;
        Ok(Self { chores: Some(chores), thread: Some(thread), is_laid_out: false })
    }

    /// Queues a maintenance chore if the log has grown enough. Does not wait for it.
    pub fn committed(&mut self, writer: &Connection) {
        let Ok((pages, folded)) = extent(writer) else { return };
        let chore = if !self.is_laid_out && pages >= LAY_OUT_AT {
            Chore::LayOut
        } else if pages - folded >= FOLD_AT {
            Chore::Fold
        } else {
            return;
        };
        // The queue is full if a chore is waiting. The next commit tries again.
        let is_taken = self.chores.as_ref().is_some_and(|chores| chores.try_send(chore).is_ok());
        self.is_laid_out |= is_taken && chore == Chore::LayOut;
    }

    /// Records that other code has truncated the log, so that it must be preallocated again.
    pub fn was_emptied(&mut self) {
        self.is_laid_out = false;
    }

    /// Ends the thread, then checkpoints and truncates the log: the database file now contains everything.
    pub fn close(mut self, writer: &Connection) {
        self.finish_chores();
        if let Err(error) = fold(writer, "truncate") {
            tracing::warn!(%error, "the write-ahead log was not folded in at the end");
        }
    }

    fn finish_chores(&mut self) {
        self.chores = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}

fn work(conn: &Connection, log: &Path, queue: &Receiver<Chore>) {
    for chore in queue {
        let done = match chore {
            Chore::LayOut => lay_out(log).map_err(|source| open::file_error("cannot lay out", log, source)),
            Chore::Fold => fold(conn, "passive"),
        };
        // No data is lost: the log only stays longer, or commits stay slower.
        if let Err(error) = done {
            tracing::warn!(%error, ?chore, "work on the write-ahead log failed");
        }
    }
}

/// Extends the log with zeros. SQLite takes them for the end of the log, and later commits overwrite them. A commit
/// that has to extend the file is slower, because it also writes to the file system's journal.
fn lay_out(log: &Path) -> std::io::Result<()> {
    static CHUNK: [u8; 64 * 1024] = [0; 64 * 1024];
    // Append mode, because the writer may be writing and its data must not be overwritten.
    let mut file = OpenOptions::new().append(true).open(log)?;
    while file.metadata()?.len() < LAID_OUT_BYTES {
        file.write_all(&CHUNK)?;
    }
    file.sync_data()
}

fn fold(conn: &Connection, how: &str) -> Result<()> {
    Ok(conn.pragma_update_and_check(None, "wal_checkpoint", how, |_| Ok(()))?)
}

/// Returns the number of pages in the log, and how many of them are checkpointed.
fn extent(conn: &Connection) -> rusqlite::Result<(i64, i64)> {
    conn.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?
        .query_row([], |raw| Ok((raw.get("log")?, raw.get("checkpointed")?)))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn database(folder: &Path) -> (PathBuf, Connection) {
        let path = folder.join("chime.db");
        let (conn, _) = open::open_for_writing(&path, chime_core::Timestamp::from_secs(0)).unwrap();
        (path, conn)
    }

    /// Writes about `pages` pages to the log in one commit.
    fn commit_pages(conn: &Connection, pages: usize) {
        conn.execute_batch("CREATE TABLE IF NOT EXISTS filler (content BLOB)").unwrap();
        conn.execute("INSERT INTO filler VALUES (zeroblob(?1))", [pages * 4096]).unwrap();
    }

    #[test]
    fn a_log_is_laid_out_once_it_is_used_and_loses_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (path, conn) = database(folder.path());
        let mut log = Log::tend(&conn, &path).unwrap();
        commit_pages(&conn, 100);
        log.committed(&conn);
        commit_pages(&conn, 100);
        // Only stops the thread. Nothing is checkpointed, so the files are in the state that a crash would leave.
        log.finish_chores();
        let wal = open::beside(&path, "-wal");
        assert!(std::fs::metadata(&wal).unwrap().len() >= LAID_OUT_BYTES);
        let copy = folder.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::copy(&wal, open::beside(&copy, "-wal")).unwrap();
        let found = Connection::open(&copy).unwrap();
        let rows: i64 = found.query_row("SELECT count(*) FROM filler", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 2, "what was committed is found behind the crash");
    }

    #[test]
    fn a_long_log_is_folded_in_beside_the_writer() {
        let folder = tempfile::tempdir().unwrap();
        let (path, conn) = database(folder.path());
        let mut log = Log::tend(&conn, &path).unwrap();
        log.is_laid_out = true;
        commit_pages(&conn, 1200);
        let (pages, folded) = extent(&conn).unwrap();
        assert!(pages >= FOLD_AT && folded == 0, "{pages} pages, {folded} folded");
        log.committed(&conn);
        log.finish_chores();
        assert_eq!(extent(&conn).unwrap(), (pages, pages));
    }

    #[test]
    fn closing_leaves_no_log_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (path, conn) = database(folder.path());
        let mut log = Log::tend(&conn, &path).unwrap();
        commit_pages(&conn, 100);
        log.committed(&conn);
        log.close(&conn);
        assert_eq!(std::fs::metadata(open::beside(&path, "-wal")).unwrap().len(), 0);
    }
}
