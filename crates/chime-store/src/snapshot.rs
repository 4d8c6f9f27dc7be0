//! Copies of the whole database, made while it is in use. A copy is checked completely, then moved to its place in one
//! step. If anything fails, no copy is left.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ffi};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Result, StoreError, migrate};

/// Name prefix of the temporary directory in which a copy is made. Random characters follow.
pub const COPY_FOLDER: &str = ".chime-copy-";
/// Name of a file in the temporary directory. It is locked while the copy is being made.
pub const COPY_LOCK: &str = "lock";

/// Number of pages that are copied between two checks for a stop: about 4 MB.
const PAGES_AT_ONCE: i32 = 1000;
/// Number of SQLite virtual machine instructions between two checks for a stop. They take much less than a millisecond.
const INSTRUCTIONS_AT_ONCE: i32 = 1000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub path: PathBuf,
    pub bytes: u64,
    pub version: u32,
}

/// Copies the database of `source` to the new file `to`, even while others write to the database.
pub fn copy_to(source: &Connection, to: &Path) -> Result<Copied> {
    copy_unless(source, to, &CancellationToken::new())
}

/// Copies like [`copy_to`], but stops when `stop` is cancelled, and then leaves no part of the copy.
///
/// # Errors
/// [`StoreError::Interrupted`] if `stop` was cancelled, [`StoreError::Occupied`] if `to` exists.
pub fn copy_unless(source: &Connection, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if to.exists() {
        return Err(StoreError::Occupied { path: to.to_owned() });
    }
    let file = |action| move |source| StoreError::File { action, path: to.to_owned(), source };
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (directory, _lock) = copy_folder(folder).map_err(file("cannot write beside"))?;
    let partial = tempfile::NamedTempFile::new_in(&directory).map_err(file("cannot write beside"))?;
    copy_pages(source, partial.path(), stop)?;
    let version = settle(partial.path(), stop)?;
    partial.as_file().sync_all().map_err(file("cannot sync"))?;
    let written = partial.persist_noclobber(to).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Occupied { path: to.to_owned() },
        _ => StoreError::File { action: "cannot write", path: to.to_owned(), source: error.error },
    })?;
    // A new file name is durable only after its directory is synced.
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(file("cannot sync the folder of"))?;
    let bytes = written.metadata().map_or(0, |metadata| metadata.len());
    Ok(Copied { path: to.to_owned(), bytes, version })
}

/// Creates the temporary directory in which a copy is made. It is next to the target, so that the copy can be moved
/// there in one step. It is deleted afterwards, together with files that SQLite may leave when the disk is full. Only
/// the owner can read it. The lock shows that the copy is still being made. It is released however the process ends, so
/// an unlocked directory is a leftover. On a file system without locks, the directory's age shows this.
pub fn copy_folder(folder: &Path) -> std::io::Result<(TempDir, fs::File)> {
    let folder = tempfile::Builder::new().prefix(COPY_FOLDER).tempdir_in(folder)?;
    let lock = fs::File::create(folder.path().join(COPY_LOCK))?;
    let _ = lock.lock();
    Ok((folder, lock))
}

/// Makes SQLite interrupt the statements of `conn` once `stop` is cancelled.
pub fn end_at(conn: &mut Connection, stop: &CancellationToken) -> Result<()> {
    let stop = stop.clone();
    Ok(conn.progress_handler(INSTRUCTIONS_AT_ONCE, Some(move || stop.is_cancelled()))?)
}

/// Copies every page in one read transaction. With one transaction per step, SQLite would start the copy again after
/// every change of the file, possibly without end.
fn copy_pages(source: &Connection, to: &Path, stop: &CancellationToken) -> Result<()> {
    let _reading = source.is_autocommit().then(|| source.unchecked_transaction()).transpose()?;
    source.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mut target = Connection::open(to)?;
    let copying = Backup::new(source, &mut target)?;
    loop {
        match copying.step(PAGES_AT_ONCE)? {
            StepResult::More if stop.is_cancelled() => return Err(StoreError::Interrupted),
            StepResult::More => {}
            StepResult::Done => return Ok(()),
            _ => return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None).into()),
        }
    }
}

/// Turns the copy into a single file without a write-ahead log, checks all of it, and returns its schema version.
fn settle(path: &Path, stop: &CancellationToken) -> Result<u32> {
    let mut conn = Connection::open(path)?;
    end_at(&mut conn, stop)?;
    conn.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()))?;
    must_be_sound(&conn, path)?;
    migrate::version(&conn)
}

pub fn must_be_sound(conn: &Connection, path: &Path) -> Result<()> {
    match damage(conn)? {
        None => Ok(()),
        Some(what) => Err(StoreError::Damaged { path: path.to_owned(), what }),
    }
}

/// Returns the first problem that SQLite finds in the database, or `None`. Reads the whole file.
pub fn damage(conn: &Connection) -> Result<Option<String>> {
    let said: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}

#[cfg(test)]
mod tests {
    use rusqlite::OpenFlags;

    use super::*;

    /// Reads the files in another directory, where no connection uses the index of the log.
    #[test]
    fn a_database_whose_log_may_only_be_read_is_copied() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let writer = Connection::open(here.path().join("chime.db")).unwrap();
        writer.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).unwrap();
        // More pages than one step copies.
        writer.execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(6000000));").unwrap();
        for name in ["chime.db", "chime.db-wal", "chime.db-shm"] {
            fs::copy(here.path().join(name), there.path().join(name)).unwrap();
        }
        let address = format!("file:{}?mode=ro&readonly_shm=1", there.path().join("chime.db").display());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let source = Connection::open_with_flags(address, flags).unwrap();
        let copied = copy_to(&source, &there.path().join("copy.db")).unwrap();
        assert!(copied.bytes > 6_000_000, "{copied:?}");
    }

    #[test]
    fn of_an_interrupted_copy_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let source = Connection::open_in_memory().unwrap();
        source.execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(6000000));").unwrap();
        let stop = CancellationToken::new();
        stop.cancel();
        let copied = copy_unless(&source, &folder.path().join("copy.db"), &stop);
        assert!(matches!(copied, Err(StoreError::Interrupted)), "{copied:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
