//! Copies of the whole database that can be trusted: taken while it is in use, checked page by page, in place in one
//! step or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::open::{self, beside};
use super::{Result, StoreError, migrate};

/// A copy that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    pub path: PathBuf,
    pub bytes: u64,
    pub version: u32,
}

/// Copies the database at `from` to the new file `to`, also while a daemon works with it, and of older versions too.
pub fn back_up(from: &Path, to: &Path) -> Result<Copied> {
    copy(&open_source(from)?, to)
}

/// Makes a copy the database at `to`. Nobody may work with that file, and there may be none there yet.
pub fn restore(from: &Path, to: &Path) -> Result<Copied> {
    if !from.is_file() {
        let source = std::io::ErrorKind::NotFound.into();
        return Err(StoreError::File { action: "there is no copy at", path: from.to_owned(), source });
    }
    let source = open_source(from)?;
    let _lock = open::lock(to)?;
    // A log that belonged to a database that is gone would be played into this one.
    for leftover in [to.to_owned(), beside(to, "-wal"), beside(to, "-journal")] {
        if leftover.exists() {
            return Err(StoreError::Occupied { path: leftover });
        }
    }
    let copied = copy(&source, to)?;
    open::mark_instance(to)?;
    Ok(copied)
}

/// Opens a database that must be ours, not newer than we are, and sound.
fn open_source(path: &Path) -> Result<Connection> {
    if !path.is_file() {
        return Err(StoreError::Absent { path: path.to_owned() });
    }
    let conn = open::connect_to_read(path)?;
    if open::check(&conn, path)? == 0 {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    must_be_sound(&conn, path)?;
    Ok(conn)
}

fn copy(source: &Connection, to: &Path) -> Result<Copied> {
    if to.exists() {
        return Err(StoreError::Occupied { path: to.to_owned() });
    }
    let file = |action| move |source| StoreError::File { action, path: to.to_owned(), source };
    let folder = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // In the same folder, so that it can be moved in one step. Readable by its owner alone.
    let partial =
        tempfile::Builder::new().prefix(".chime-").tempfile_in(folder).map_err(file("cannot write beside"))?;
    open::backup(source, partial.path())?;
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

fn must_be_sound(conn: &Connection, path: &Path) -> Result<()> {
    match open::damage(conn)? {
        None => Ok(()),
        Some(what) => Err(StoreError::Damaged { path: path.to_owned(), what }),
    }
}
