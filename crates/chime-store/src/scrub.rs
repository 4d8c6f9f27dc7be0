//! Removal of deleted content from the unused parts of the database file and from the log.

use std::time::Duration;

use rusqlite::Connection;

use super::sql::{Statements, params};
use super::{Reader, Result, StoreError, Writer, open};
use chime_core::Timestamp;

/// Longest time to wait for readers. The store's own readers end sooner; another program that copies the database may
/// take much longer.
const READERS_END_IN: Duration = Duration::from_secs(1);

/// Time after which a job that needs the text of an opted-out member has usually ended and the text is deleted. The
/// file is rewritten only then.
pub const HELD_FOR: Duration = Duration::from_secs(5);

/// Records that unused parts of the file may still contain deleted text, so that a job rewrites the file.
pub fn want(tx: &Writer<'_>, now: Timestamp) -> Result<()> {
    tx.run("INSERT INTO scrub (id, wanted_since) VALUES (1, :now) ON CONFLICT (id) DO NOTHING", params! { ":now": now })
}

/// Returns the time since which the file must be rewritten, or `None` if that is not needed.
pub fn wanted_since(conn: &Reader) -> Result<Option<Timestamp>> {
    conn.first("SELECT wanted_since FROM scrub WHERE id = 1", &[])
}

/// Writes the log into the database file and empties it. All other writes have to wait, so this waits for readers only
/// briefly. Returns [`StoreError::Busy`] if a reader still uses the log.
pub(super) fn fold(conn: &Connection) -> Result<()> {
    conn.busy_timeout(READERS_END_IN)?;
    let busy = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    conn.busy_timeout(open::BUSY_TIMEOUT)?;
    if busy? == 0 {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
    Err(StoreError::Busy(rusqlite::Error::SqliteFailure(code, Some("a reader holds the log".to_owned()))))
}

/// Rewrites the file without unused parts. For 50 MB this takes about a second. It needs as much free disk space as the
/// file has, and all other writes wait until it is done.
pub(super) fn rewrite(conn: &Connection) -> Result<()> {
    // SQLite puts the copy into a temporary file, because it might not fit into memory.
    conn.pragma_update(None, "temp_store", "file")?;
    let outcome = conn.execute_batch("VACUUM; DELETE FROM scrub;").map_err(StoreError::from);
    conn.pragma_update(None, "temp_store", "memory")?;
    outcome?;
    fold(conn)
}
