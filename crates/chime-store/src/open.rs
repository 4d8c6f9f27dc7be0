//! Opening the file: lock, checks, backup before a migration, and connection settings.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{Result, StoreError, backups, migrate, snapshot, vector_index};
use chime_core::Timestamp;

/// "CHM2": distinguishes Chime databases from other SQLite files, and from databases of builds before the first release,
/// whose schema differed under the same version.
const APPLICATION_ID: i32 = 0x4348_4d32;
/// Time for which SQLite retries while another program has locked the file. Litestream and backups lock it only
/// briefly.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Page cache sizes in KiB. They are small, and mmap is off, so that the process fits a machine with 512 MB. A reader's
/// cache is emptied by every commit, so it only needs space for the pages that one read uses repeatedly.
const WRITER_CACHE_KIB: i64 = 4096;
const READER_CACHE_KIB: i64 = 2048;
/// Size to which SQLite truncates the write-ahead log after a checkpoint.
const LOG_KEPT_BYTES: i64 = 64 * 1024 * 1024;
/// Prepared statements cached per connection. The crate has fewer statements, so each is compiled only once.
const STATEMENTS: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    pub created: bool,
    /// Schema versions before and after opening; equal if nothing was migrated. The first is 0 for a new file.
    pub migrated: (u32, u32),
    /// Path of the copy that was made before migrating, if there was an older database to migrate.
    pub backup: Option<PathBuf>,
}

/// Takes the lock that keeps a second daemon from using the same database, also through a symbolic link. It is released
/// when the file is dropped.
pub fn lock(path: &Path) -> Result<File> {
    let lock_path = beside(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), ".lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
    let file = file.map_err(|source| file_error("cannot open the lock file", &lock_path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::AlreadyRunning { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(StoreError::File { action: "cannot lock", path: lock_path, source }),
    }
}

/// Opens the file for writing. Creates it if it is missing, and copies and migrates an older version.
pub fn open_for_writing(path: &Path, now: Timestamp) -> Result<(Connection, Opened)> {
    let existed = exists(path)?;
    if !existed {
        // Only the owner of the file may read it, because it contains members' messages. SQLite creates its other files
        // with the same permissions.
        let create = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
        create.map_err(|source| file_error("cannot create", path, source))?;
    }
    vector_index::register();
    let mut conn = Connection::open(path)?;
    #[cfg(feature = "testkit")]
    super::watch::attach(&mut conn, path)?;
    let found = check(&conn, path)?;
    must_hold_what_was_here(found, path)?;
    configure(&conn)?;
    let backup = (1..migrate::KNOWN).contains(&found).then(|| backups::before_migration(path, found + 1, now));
    if let Some(copy) = &backup {
        match snapshot::copy_to(&conn, copy) {
            // The copy exists already: an earlier start in this second made it and ended before it migrated anything.
            Err(StoreError::Occupied { .. }) => {}
            copied => drop(copied?),
        }
    }
    if found == 0 {
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    migrate::migrate(&mut conn)?;
    mark_instance(path)?;
    Ok((conn, Opened { created: !existed, migrated: (found, migrate::KNOWN), backup }))
}

/// Returns `true` if there is a file at `path`.
///
/// # Errors
/// [`StoreError::Missing`] or [`StoreError::Emptied`] if the marker file shows that a database was here, but the file
/// is now missing or empty.
pub fn exists(path: &Path) -> Result<bool> {
    let marker = instance_marker(path);
    match fs::metadata(path).map(|file| file.len()) {
        Err(_) if marker.exists() => Err(StoreError::Missing { path: path.to_owned(), marker }),
        // SQLite would take the empty file for a new database and delete the log that belongs to the earlier one.
        Ok(0) if marker.exists() => Err(StoreError::Emptied { path: path.to_owned(), marker }),
        found => Ok(found.is_ok()),
    }
}

/// Returns [`StoreError::Emptied`] if the file has no tables but its marker file shows that a database was here.
fn must_hold_what_was_here(found: u32, path: &Path) -> Result<()> {
    let marker = instance_marker(path);
    if found == 0 && marker.exists() {
        return Err(StoreError::Emptied { path: path.to_owned(), marker });
    }
    Ok(())
}

fn instance_marker(path: &Path) -> PathBuf {
    beside(path, ".instance")
}

/// Writes the marker file. It shows later starts that a database was here, so that a missing or empty file is not taken
/// for a first start.
pub fn mark_instance(path: &Path) -> Result<()> {
    let marker = instance_marker(path);
    fs::write(&marker, "A Chime database belongs beside this file.\n")
        .map_err(|source| file_error("cannot write", &marker, source))
}

/// Opens an existing file read-only. Works while the daemon runs.
pub fn open_for_reading(path: &Path) -> Result<Connection> {
    if !exists(path)? {
        return Err(StoreError::Absent { path: path.to_owned() });
    }
    let conn = connect_to_read(path)?;
    #[cfg(feature = "testkit")]
    let conn = super::watch::attached(conn, path)?;
    must_be_current(check(&conn, path)?, path)?;
    configure_common(&conn, READER_CACHE_KIB)?;
    Ok(conn)
}

pub fn connect_to_read(path: &Path) -> Result<Connection> {
    vector_index::register();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    // A reader of a WAL database must be able to write its index (`-shm`). SQLite could open the file as immutable
    // instead, but then the daemon must not write to it.
    let conn = Connection::open_with_flags(path, flags)
        .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Returns an error if the file has an older schema version, for callers that cannot migrate it.
fn must_be_current(found: u32, path: &Path) -> Result<()> {
    if found == migrate::KNOWN {
        return Ok(());
    }
    Err(StoreError::Older { path: path.to_owned(), found, known: migrate::KNOWN })
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    pub version: u32,
    /// Schema version that this program writes.
    pub known: u32,
    /// Size of the file and its write-ahead log together.
    pub bytes: u64,
    pub is_writable: bool,
    /// First problem that SQLite's integrity check found, or `None`.
    pub damage: Option<String>,
}

/// Inspects a file of any version, also while the daemon uses it. Reads the whole file.
pub fn inspect(path: &Path) -> Result<Inspection> {
    if !exists(path)? {
        return Err(StoreError::Absent { path: path.to_owned() });
    }
    let conn = connect_to_read(path)?;
    let version = check(&conn, path)?;
    must_hold_what_was_here(version, path)?;
    let damage = snapshot::damage(&conn)?;
    let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok(Inspection {
        version,
        known: migrate::KNOWN,
        bytes: length(path) + length(&beside(path, "-wal")),
        is_writable: OpenOptions::new().append(true).open(path).is_ok(),
        damage,
    })
}

/// Returns the size of the database in bytes, without the write-ahead log.
pub fn size(conn: &Connection) -> Result<u64> {
    let pages: u64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page: u64 = conn.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(pages.saturating_mul(page))
}

/// Runs one small transaction on a file that a daemon may be using. For changes by a command of the operator. The
/// daemon does not notice the change, so it must not affect data that the daemon caches in memory.
pub fn amend<T>(path: &Path, work: impl FnOnce(&super::Writer<'_>) -> Result<T>) -> Result<T> {
    if !exists(path)? {
        return Err(StoreError::Absent { path: path.to_owned() });
    }
    vector_index::register();
    let mut conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    must_be_current(check(&conn, path)?, path)?;
    configure(&conn)?;
    let tx = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let outcome = work(&tx)?;
    tx.commit()?;
    Ok(outcome)
}

/// Checks that a file is a Chime database that this program can read, else returns [`StoreError::Foreign`] or
/// [`StoreError::Newer`]. Returns the schema version, or 0 for a new file.
pub fn check(conn: &Connection, path: &Path) -> Result<u32> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    let found = migrate::version(conn)?;
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application, found) {
        (APPLICATION_ID, found) if found > migrate::KNOWN => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: migrate::KNOWN })
        }
        (APPLICATION_ID, found) => Ok(found),
        (0, 0) if tables == 0 => Ok(0),
        _ => Err(StoreError::Foreign { path: path.to_owned() }),
    }
}

fn configure(conn: &Connection) -> Result<()> {
    conn.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // Telegram deletes an update once the bot confirms it. The commit before the confirmation must therefore survive a
    // power failure.
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", true)?;
    // Truncates a log that grew larger during a long read.
    conn.pragma_update(None, "journal_size_limit", LOG_KEPT_BYTES)?;
    // Overwrites deleted content, so that forgotten messages are not in the file.
    conn.pragma_update(None, "secure_delete", true)?;
    configure_common(conn, WRITER_CACHE_KIB)
}

fn configure_common(conn: &Connection, cache_kib: i64) -> Result<()> {
    // SQLite takes a negative value as KiB, a positive one as pages.
    conn.pragma_update(None, "cache_size", -cache_kib)?;
    conn.pragma_update(None, "temp_store", "memory")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Keeps query plans independent of the bound values. Otherwise SQLite would compile a statement again for each new
    // value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

pub fn file_error(action: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    StoreError::File { action, path: path.to_owned(), source }
}

/// Appends `suffix` to the file name of `path`.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_767_621_720);

    #[test]
    fn an_emptied_database_is_refused_and_its_log_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chime.db");
        drop(open_for_writing(&path, NOW).unwrap());
        let log = beside(&path, "-wal");
        fs::write(&path, "").unwrap();
        fs::write(&log, "what was written last").unwrap();
        assert!(matches!(open_for_writing(&path, NOW), Err(StoreError::Emptied { .. })));
        assert!(matches!(inspect(&path), Err(StoreError::Emptied { .. })));
        assert!(matches!(open_for_reading(&path), Err(StoreError::Emptied { .. })));
        assert_eq!(fs::read_to_string(&log).unwrap(), "what was written last");
    }

    #[test]
    fn a_database_that_lost_its_tables_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chime.db");
        drop(open_for_writing(&path, NOW).unwrap());
        fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (x); DROP TABLE t;").unwrap();
        assert!(matches!(open_for_writing(&path, NOW), Err(StoreError::Emptied { .. })));
        assert!(matches!(inspect(&path), Err(StoreError::Emptied { .. })));
    }

    #[test]
    fn an_empty_file_where_none_was_before_becomes_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chime.db");
        fs::write(&path, "").unwrap();
        let (_, opened) = open_for_writing(&path, NOW).unwrap();
        assert_eq!(opened.migrated, (0, migrate::KNOWN));
    }
}
