//! Copies of the whole database that can be trusted: taken while it is in use, checked page by page, in place in one
//! step or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{Result, StoreError, migrate};

/// What the room of a copy under way is called, followed by something random.
pub const ROOM: &str = ".chime-copy-";

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub path: PathBuf,
    pub bytes: u64,
    pub version: u32,
}

/// Copies what `source` reads to the new file `to`, also while others write to it.
pub fn copy_to(source: &Connection, to: &Path) -> Result<Copied> {
    if to.exists() {
        return Err(StoreError::Occupied { path: to.to_owned() });
    }
    let file = |action| move |source| StoreError::File { action, path: to.to_owned(), source };
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // In the same folder, so that it can be moved in one step; in a room of its own, which is gone afterwards with
    // whatever SQLite left beside a copy that did not fit on the disk. Readable by its owner alone.
    let room = tempfile::Builder::new().prefix(ROOM).tempdir_in(folder).map_err(file("cannot write beside"))?;
    let partial = tempfile::NamedTempFile::new_in(&room).map_err(file("cannot write beside"))?;
    source.backup("main", partial.path(), None::<fn(rusqlite::backup::Progress)>)?;
    let version = settle(partial.path())?;
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

/// Makes a single file of the copy, without a log beside it, and reads all of it once.
fn settle(path: &Path) -> Result<u32> {
    let conn = Connection::open(path)?;
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
