//! Backup and restore of the database file.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::open::{self, beside};
use super::snapshot::{Copied, copy_folder, copy_unless, end_at, must_be_sound};
use super::{Result, Store, StoreError};
use chime_core::Timestamp;

/// Copies the database at `from`, which may have an older schema version, to the new file `to`. Works while a daemon
/// uses the database. If `stop` is cancelled, no part of the copy is left.
pub fn back_up(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !open::exists(from)? || !from.is_file() {
        return Err(StoreError::Absent { path: from.to_owned() });
    }
    copy_unless(&open_source(from, stop)?, to, stop)
}

/// Copy of a database to try something on. It is deleted when this is dropped.
pub struct TrialCopy {
    pub store: Store,
    _folder: TempDir,
    _lock: File,
}

impl TrialCopy {
    /// Copies the database at `path`, which a daemon may use, and opens the copy. Without a database, the copy is empty.
    pub fn of(path: &Path, now: Timestamp) -> Result<Self> {
        let failed = |source| StoreError::File { action: "cannot copy", path: path.to_owned(), source };
        let beside = path.parent().filter(|_| path.is_file()).map_or_else(std::env::temp_dir, Path::to_owned);
        let (folder, lock) = copy_folder(&beside).map_err(failed)?;
        let copy = folder.path().join("trial.db");
        match back_up(path, &copy, &CancellationToken::new()) {
            Ok(_) | Err(StoreError::Absent { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(Self { store: Store::open(&copy, now)?.0, _folder: folder, _lock: lock })
    }
}

/// Restores the copy `from` as the database `to`. Fails if `to` exists or a daemon uses it. If `stop` is cancelled, no
/// part of the new file is left.
pub fn restore(from: &Path, to: &Path, stop: &CancellationToken) -> Result<Copied> {
    if !from.is_file() {
        return Err(StoreError::NoCopy { path: from.to_owned() });
    }
    let source = open_source(from, stop).map_err(|error| match error {
        // The text of `Foreign` speaks of the configured database, but here the file is a copy.
        StoreError::Foreign { path } => StoreError::NoCopy { path },
        other => other,
    })?;
    let _lock = open::lock(to)?;
    // If a deleted database left its log, SQLite would apply the log to the new database.
    for leftover in [to.to_owned(), beside(to, "-wal"), beside(to, "-journal")] {
        if leftover.exists() {
            return Err(StoreError::Occupied { path: leftover });
        }
    }
    let copied = copy_unless(&source, to, stop)?;
    open::mark_instance(to)?;
    Ok(copied)
}

/// Opens a Chime database for copying. Returns an error if it is damaged or newer than this program.
fn open_source(path: &Path, stop: &CancellationToken) -> Result<Connection> {
    // Opened first, because SQLite would report an unreadable file as a problem with writing.
    File::open(path).map_err(|source| open::file_error("cannot read", path, source))?;
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
        // The error must name the file, because the copy and the database are involved.
        StoreError::Corrupt(error) => StoreError::Damaged { path: path.to_owned(), what: error.to_string() },
        other => other,
    })
}
