//! Backing up and restoring: whose file is copied where, and what is refused.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use tokio_util::sync::CancellationToken;

use super::open::{self, beside};
use super::snapshot::{Copied, copy_unless, end_at, must_be_sound};
use super::{Result, StoreError};

/// Copies the database at `from` to the new file `to`, also while a daemon works with it, and of older versions too. After
/// `stop` nothing is left of the copy.
pub fn back_up(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !open::exists(from)? || !from.is_file() {
        return Err(StoreError::Absent { path: from.to_owned() });
    }
    copy_unless(&open_source(from, stop)?, to, stop)
}

/// Makes a copy the database at `to`. Nobody may work with that file, and there may be none there yet. `stop` is
/// that of [`back_up`].
pub fn restore(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !from.is_file() {
        return Err(StoreError::NoCopy { path: from.to_owned() });
    }
    let source = open_source(from, stop).map_err(|error| match error {
        // The text of `Foreign` speaks of the database, which is another file.
        StoreError::Foreign { path } => StoreError::NoCopy { path },
        other => other,
    })?;
    let _lock = open::lock(to)?;
    // A log that belonged to a database that is gone would be played into this one.
    for leftover in [to.to_owned(), beside(to, "-wal"), beside(to, "-journal")] {
        if leftover.exists() {
            return Err(StoreError::Occupied { path: leftover });
        }
    }
    let copied = copy_unless(&source, to, stop)?;
    open::mark_instance(to)?;
    Ok(copied)
}

/// Opens a database that must be ours, not newer than we are, and sound.
fn open_source(path: &Path, stop: &CancellationToken) -> Result<Connection> {
    // SQLite would say that it cannot write.
    fs::File::open(path).map_err(|source| open::file_error("cannot read", path, source))?;
    let open = || {
        let mut conn = open::connect_to_read(path)?;
        end_at(&mut conn, stop)?;
        if open::check(&conn, path)? == 0 {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        must_be_sound(&conn, path)?;
        Ok(conn)
    };
    open().map_err(|error| match error {
        StoreError::Corrupt(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            StoreError::Foreign { path: path.to_owned() }
        }
        // Which of the two files it is must be said.
        StoreError::Corrupt(error) => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        other => other,
    })
}
