//! Backup and restore of the database file.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use tokio_util::sync::CancellationToken;

use super::open::{self, beside};
use super::snapshot::{Copied, copy_unless, end_at, must_be_sound};
use super::{Result, StoreError};

/// Copies the database at `from`, of this or an older version, to the new file `to`. Works while a daemon uses the
/// database. After `stop`, no part of the copy remains.
pub fn back_up(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !open::exists(from)? || !from.is_file() {
        return Err(StoreError::Absent { path: from.to_owned() });
    }
    copy_unless(&open_source(from, stop)?, to, stop)
}

/// Restores the copy `from` as the database `to`, which must not exist or be in use. `stop` works as in [`back_up`].
pub fn restore(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !from.is_file() {
        return Err(StoreError::NoCopy { path: from.to_owned() });
    }
    let source = open_source(from, stop).map_err(|error| match error {
        // The message of `Foreign` is about the database, not about the copy.
        StoreError::Foreign { path } => StoreError::NoCopy { path },
        other => other,
    })?;
    let _lock = open::lock(to)?;
    // SQLite would replay a log left by a deleted database into this one.
    for leftover in [to.to_owned(), beside(to, "-wal"), beside(to, "-journal")] {
        if leftover.exists() {
            return Err(StoreError::Occupied { path: leftover });
        }
    }
    let copied = copy_unless(&source, to, stop)?;
    open::mark_instance(to)?;
    Ok(copied)
}

/// Opens a Chime database that is undamaged and not newer than this program.
fn open_source(path: &Path, stop: &CancellationToken) -> Result<Connection> {
    // SQLite would report a write error instead.
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
        // The error must name the file: two are involved.
        StoreError::Corrupt(error) => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        other => other,
    })
}
