//! Copies of the whole database that can be trusted: taken while it is in use, checked page by page, in place in one
//! step or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ffi};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Result, StoreError, migrate};

/// What the room of a copy under way is called, followed by something random.
pub const ROOM: &str = ".chime-copy-";
/// The file in the room that is locked as long as the copy is under way.
pub const ROOM_LOCK: &str = "lock";

/// About 4 MB.
const PAGES_AT_ONCE: i32 = 1000;
/// Instructions of SQLite's virtual machine between two looks at whether to stop: well below a millisecond.
const INSTRUCTIONS_AT_ONCE: i32 = 1000;

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub path: PathBuf,
    pub bytes: u64,
    pub version: u32,
}

/// Copies what `source` reads to the new file `to`, also while others write to it.
pub fn copy_to(source: &Connection, to: &Path) -> Result<Copied> {
    copy_unless(source, to, &CancellationToken::new())
}

/// [`copy_to`], until `stop`: then nothing is left of the copy.
///
/// # Errors
/// [`StoreError::Interrupted`] after `stop`.
pub fn copy_unless(source: &Connection, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if to.exists() {
        return Err(StoreError::Occupied { path: to.to_owned() });
    }
    let file = |action| move |source| StoreError::File { action, path: to.to_owned(), source };
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let room = Room::in_folder(folder).map_err(file("cannot write beside"))?;
    let partial = tempfile::NamedTempFile::new_in(&room.folder).map_err(file("cannot write beside"))?;
    copy_pages(source, partial.path(), stop)?;
    let version = settle(partial.path(), stop)?;
    partial.as_file().sync_all().map_err(file("cannot sync"))?;
    let written = partial.persist_noclobber(to).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Occupied { path: to.to_owned() },
        _ => StoreError::File { action: "cannot write", path: to.to_owned(), source: error.error },
    })?;
    // The name is durable only once its folder is.
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(file("cannot sync the folder of"))?;
    let bytes = written.metadata().map_or(0, |metadata| metadata.len());
    Ok(Copied { path: to.to_owned(), bytes, version })
}

/// Where a copy is under way: in the same folder, so that it can be moved in one step; in a room of its own, which is gone
/// afterwards with whatever SQLite left beside a copy that did not fit on the disk. Readable by its owner alone.
struct Room {
    folder: TempDir,
    /// Released when the process ends, however that comes: an unlocked room is nobody's. Where the file system knows no
    /// locks, nobody can lock it, and the room's age tells.
    _lock: fs::File,
}

impl Room {
    fn in_folder(folder: &Path) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(ROOM).tempdir_in(folder)?;
        let lock = fs::File::create(folder.path().join(ROOM_LOCK))?;
        let _ = lock.lock();
        Ok(Self { folder, _lock: lock })
    }
}

/// Ends what `conn` does once `stop` is cancelled.
pub fn end_at(conn: &mut Connection, stop: &CancellationToken) -> Result<()> {
    let stop = stop.clone();
    Ok(conn.progress_handler(INSTRUCTIONS_AT_ONCE, Some(move || stop.is_cancelled()))?)
}

/// Copies every page in one reading transaction. With a transaction for each step SQLite begins the copy anew whenever it
/// takes the file for changed in between, which need never end.
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

/// Makes a single file of the copy, without a log beside it, and reads all of it once.
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

/// The first thing that is wrong with a file, found by reading all of it.
pub fn damage(conn: &Connection) -> Result<Option<String>> {
    let said: String = conn.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    Ok((said != "ok").then_some(said))
}

#[cfg(test)]
mod tests {
    use rusqlite::OpenFlags;

    use super::*;

    /// The files are read in another folder, where no other connection has the index of the log in use.
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
