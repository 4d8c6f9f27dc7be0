//! Rewriting the file, so that no deleted content remains in it.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::{Reader, Result, StoreError, Writer, open};
use chime_core::Timestamp;

/// Longest wait for readers. The store's own are done by then; a program that copies the database may take much longer.
const READERS_END_IN: Duration = Duration::from_secs(1);

/// Time after which text that is held for a job is usually deleted.
pub const HELD_FOR: Duration = Duration::from_secs(5);

/// Records that deleted text may remain in unused parts of the file.
pub fn want(tx: &Writer<'_>, now: Timestamp) -> Result<()> {
    tx.prepare_cached("INSERT INTO scrub (id, wanted_since) VALUES (1, :now) ON CONFLICT (id) DO NOTHING")?
        .execute(named_params! { ":now": now.millis() })?;
    Ok(())
}

/// Returns the time since which a rewrite is wanted, if one is.
pub fn wanted_since(conn: &Reader) -> Result<Option<Timestamp>> {
    let at: Option<i64> = conn
        .prepare_cached("SELECT wanted_since FROM scrub WHERE id = 1")?
        .query_row([], |raw| raw.get("wanted_since"))
        .optional()?;
    Ok(at.map(Timestamp::from_millis))
}

/// Checkpoints and truncates the log. Nothing else is written meanwhile, so it waits for readers only briefly.
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

/// Rewrites the file. Takes about a second for 50 MB, and as much free space as the file has; nothing else is written
/// meanwhile.
pub(super) fn rewrite(conn: &Connection) -> Result<()> {
    // The copy goes to a file, because it might not fit into memory.
    conn.pragma_update(None, "temp_store", "file")?;
    let outcome = conn.execute_batch("VACUUM; DELETE FROM scrub;").map_err(StoreError::from);
    conn.pragma_update(None, "temp_store", "memory")?;
    outcome?;
    fold(conn)
}
