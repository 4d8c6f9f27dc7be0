//! Errors of the store. The variants differ in what a caller can do about them.

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("another chime already works with {path}; stop it first, or set DATABASE_PATH to another file")]
    AlreadyRunning { path: PathBuf },
    #[error("{path} is of version {found}, this chime knows versions up to {known}; install the newer chime again")]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error(
        "{path} is of version {found}, this chime works with version {known}: start `chime run` once, it makes a copy \
         and migrates"
    )]
    Older { path: PathBuf, found: u32, known: u32 },
    #[error("{path} is not a Chime database, or one from before the first release; set DATABASE_PATH to another file")]
    Foreign { path: PathBuf },
    #[error(
        "the database {path} was here and is gone ({marker} remembers it); restore it from a backup, or delete \
         {marker} to start with an empty one"
    )]
    Missing { path: PathBuf, marker: PathBuf },
    #[error(
        "the database {path} was here and is empty now ({marker} remembers it); move it away and restore a backup, or \
         delete it and {marker} to start with an empty one"
    )]
    Emptied { path: PathBuf, marker: PathBuf },
    #[error("there is no database at {path}; check DATABASE_PATH, or start `chime run` once")]
    Absent { path: PathBuf },
    #[error("there is already a file at {path}, and nothing is overwritten; move it away or choose another place")]
    Occupied { path: PathBuf },
    #[error("there is no copy of a Chime database at {path}")]
    NoCopy { path: PathBuf },
    #[error("{path} is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
    #[error("the copy was interrupted, and nothing is left of it")]
    Interrupted,
    #[error("the database is damaged; restore it from a backup")]
    Corrupt(#[source] rusqlite::Error),
    #[error("the database cannot be written; check the rights on the file, its folder and its file system")]
    ReadOnly(#[source] rusqlite::Error),
    #[error("no space is left on the disk")]
    Full(#[source] rusqlite::Error),
    #[error("the database is locked by another program")]
    Busy(#[source] rusqlite::Error),
    #[error("a value in column {column} cannot be read: {what}")]
    BadValue { column: String, what: String },
    #[error("{action} {path}")]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("the store is closed")]
    Closed,
    #[error("the work on the database panicked")]
    Panicked,
    #[error("migration {version}")]
    Migration { version: u32, source: rusqlite::Error },
    #[error("a statement failed")]
    Sql(#[source] rusqlite::Error),
}

impl StoreError {
    /// Returns `true` if the daemon must stop, because neither waiting nor a retry can help.
    pub fn is_fatal(&self) -> bool {
        matches!(self, Self::Corrupt(_) | Self::ReadOnly(_) | Self::Closed)
    }

    /// Returns `true` if the file is damaged. `SQLITE_CORRUPT_VTAB` does not count: it only says that the search index
    /// does not match a row that is to be removed. Stopping would not help, because this would happen again after every
    /// restart.
    pub fn is_damage(&self) -> bool {
        let Self::Corrupt(error) = self else { return false };
        error.sqlite_error().is_none_or(|error| error.extended_code != rusqlite::ffi::SQLITE_CORRUPT_VTAB)
    }

    /// Returns `true` if the error may pass by itself, so that the caller should wait and try again.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Full(_) | Self::Busy(_))
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{
            CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase, OperationInterrupted,
            PermissionDenied, ReadOnly, SystemIoFailure,
        };
        match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => Self::Corrupt(error),
            Some(ReadOnly | PermissionDenied | CannotOpen) => Self::ReadOnly(error),
            // On a full disk, or beyond a limit of the file size, a write may fail with an I/O error as well.
            Some(DiskFull | SystemIoFailure) => Self::Full(error),
            Some(DatabaseBusy | DatabaseLocked) => Self::Busy(error),
            // Statements are only interrupted while a copy is made or checked.
            Some(OperationInterrupted) => Self::Interrupted,
            _ => Self::Sql(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_disagrees_is_no_damaged_file() {
        let corrupt = |code| StoreError::from(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None));
        assert!(corrupt(rusqlite::ffi::SQLITE_CORRUPT).is_damage());
        assert!(!corrupt(rusqlite::ffi::SQLITE_CORRUPT_VTAB).is_damage());
        assert!(!corrupt(rusqlite::ffi::SQLITE_FULL).is_damage());
    }
}
