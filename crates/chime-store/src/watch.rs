//! Cost of each statement, counted in steps of SQLite's virtual machine. Tests use it to limit the cost of queries.
//! Only built with the feature `testkit`, so not in releases.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};

use super::Result;

/// Number of steps of the most expensive run of each statement, by the text of the statement.
pub type Costs = BTreeMap<String, i64>;

static WATCHED: Mutex<BTreeMap<PathBuf, Costs>> = Mutex::new(BTreeMap::new());

/// Starts to count for all connections to `path` that are opened from now on.
pub fn start(path: &Path) {
    WATCHED.lock().insert(path.to_owned(), Costs::new());
}

/// Returns the costs of the statements at `path` since the last call.
pub fn costs(path: &Path) -> Costs {
    WATCHED.lock().get_mut(path).map(std::mem::take).unwrap_or_default()
}

pub(super) fn attached(mut conn: Connection, path: &Path) -> Result<Connection> {
    attach(&mut conn, path)?;
    Ok(conn)
}

pub(super) fn attach(conn: &mut Connection, path: &Path) -> Result<()> {
    if !WATCHED.lock().contains_key(path) {
        return Ok(());
    }
    let path = path.to_owned();
    // Steps at the last run of each statement: SQLite's counter is not reset between runs of a prepared statement.
    let mut counted: HashMap<String, i64> = HashMap::new();
    let note = move |event: TraceEvent<'_>| {
        let TraceEvent::Profile(statement, _) = event else { return };
        let (sql, steps) = (statement.sql().into_owned(), i64::from(statement.get_status(StatementStatus::VmStep)));
        let before = counted.insert(sql.clone(), steps).filter(|before| *before <= steps).unwrap_or(0);
        if let Some(costs) = WATCHED.lock().get_mut(&path) {
            let most = costs.entry(sql).or_insert(0);
            *most = (*most).max(steps - before);
        }
    };
    Ok(conn.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(note))?)
}
