//! The write-ahead log, which every commit waits for: kept from growing, and folded into the file beside the writer.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::{Result, open};

/// Pages in the log from which on they are folded into the file: SQLite's own measure.
const FOLD_AT: i64 = 1000;
/// Should folding fall behind, the writer does it itself, within a commit.
const FOLD_YOURSELF_AT: i64 = 8 * FOLD_AT;
/// A log of so many pages belongs to a daemon that is here to stay.
const LAY_OUT_AT: i64 = 64;
/// Room for what is folded at once and for what is committed meanwhile.
const LAID_OUT_BYTES: u64 = 8 * 1024 * 1024;
/// A log that a long read has let grow is cut down to this.
const KEPT_BYTES: i64 = 64 * 1024 * 1024;

/// What the log needs done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chore {
    LayOut,
    Fold,
}

/// Watches the log for the writer, and has the work on it done by a thread of its own.
pub struct Log {
    chores: Option<SyncSender<Chore>>,
    thread: Option<JoinHandle<()>>,
    is_laid_out: bool,
}

impl Log {
    /// Takes the log of the database at `path` over from SQLite; `writer` is its writing connection.
    pub fn tend(writer: &Connection, path: &Path) -> Result<Self> {
        writer.pragma_update(None, "wal_autocheckpoint", FOLD_YOURSELF_AT)?;
        writer.pragma_update(None, "journal_size_limit", KEPT_BYTES)?;
        let conn = open::open_for_reading(path)?;
        // Folding syncs the log before it touches the file.
        conn.pragma_update(None, "synchronous", "full")?;
        // One that waits is enough: every chore does all there is to do.
        let (chores, queue) = sync_channel(1);
        let log = open::beside(path, "-wal");
        let thread = std::thread::Builder::new().name("store-log".to_owned()).spawn(move || work(&conn, &log, &queue));
        let thread =
            thread.map_err(|source| open::file_error("cannot start the thread for the log of", path, source))?;
        Ok(Self { chores: Some(chores), thread: Some(thread), is_laid_out: false })
    }

    /// Has done what a commit has made necessary. Waits for nothing.
    pub fn committed(&mut self, writer: &Connection) {
        let Ok((pages, folded)) = extent(writer) else { return };
        let chore = if !self.is_laid_out && pages >= LAY_OUT_AT {
            Chore::LayOut
        } else if pages - folded >= FOLD_AT {
            Chore::Fold
        } else {
            return;
        };
        // Refused while another waits: the next commit asks again.
        let is_taken = self.chores.as_ref().is_some_and(|chores| chores.try_send(chore).is_ok());
        self.is_laid_out |= is_taken && chore == Chore::LayOut;
    }

    /// Somebody else folded everything in and cut the log to nothing.
    pub fn was_emptied(&mut self) {
        self.is_laid_out = false;
    }

    /// Ends the thread. Folds everything in and empties the log, so that a tidy file is left behind.
    pub fn close(mut self, writer: &Connection) {
        self.finish_chores();
        if let Err(error) = fold(writer, "truncate") {
            tracing::warn!(%error, "the write-ahead log was not folded in at the end");
        }
    }

    fn finish_chores(&mut self) {
        self.chores = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so already.
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
        // Nothing is lost: the log is the slower, or the longer, for it.
        if let Err(error) = done {
            tracing::warn!(%error, ?chore, "work on the write-ahead log failed");
        }
    }
}

/// Lengthens the log with zeros, which SQLite takes for its end. A commit then overwrites instead of making the file
/// grow: growing costs it a second round through the file system's own journal.
fn lay_out(log: &Path) -> std::io::Result<()> {
    static CHUNK: [u8; 64 * 1024] = [0; 64 * 1024];
    // Appending: the writer is at work, and what it has written must stay.
    let mut file = OpenOptions::new().append(true).open(log)?;
    while file.metadata()?.len() < LAID_OUT_BYTES {
        file.write_all(&CHUNK)?;
    }
    file.sync_data()
}

fn fold(conn: &Connection, how: &str) -> Result<()> {
    Ok(conn.pragma_update_and_check(None, "wal_checkpoint", how, |_| Ok(()))?)
}

/// Pages in the log, and how many of them are in the file.
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

    /// Commits so that about `pages` pages go into the log.
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
        // Folds nothing in: what lies there now is what a crash would leave.
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
