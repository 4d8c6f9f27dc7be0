//! What each statement costs SQLite, in steps of its virtual machine. For tests that hold queries to a bound: behind the
//! feature `testkit`, so that none of it is in a release build.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};

use super::Result;

/// The most steps that one run of a statement took, by its text.
pub type Costs = BTreeMap<String, i64>;

static WATCHED: Mutex<BTreeMap<PathBuf, Costs>> = Mutex::new(BTreeMap::new());

/// From now on, what is opened at `path` is watched.
pub fn start(path: &Path) {
    watched().insert(path.to_owned(), Costs::new());
}

/// What was run at `path` since this was last asked.
pub fn costs(path: &Path) -> Costs {
    watched().get_mut(path).map(std::mem::take).unwrap_or_default()
}

/// As [`attach`].
pub(super) fn attached(mut conn: Connection, path: &Path) -> Result<Connection> {
    attach(&mut conn, path)?;
    Ok(conn)
}

pub(super) fn attach(conn: &mut Connection, path: &Path) -> Result<()> {
    if !watched().contains_key(path) {
        return Ok(());
    }
    let path = path.to_owned();
    // SQLite counts on while a statement is kept prepared.
    let mut counted: HashMap<String, i64> = HashMap::new();
    let note = move |event: TraceEvent<'_>| {
        let TraceEvent::Profile(statement, _) = event else { return };
        let (sql, steps) = (statement.sql().into_owned(), i64::from(statement.get_status(StatementStatus::VmStep)));
        let before = counted.insert(sql.clone(), steps).filter(|before| *before <= steps).unwrap_or(0);
        if let Some(costs) = watched().get_mut(&path) {
            let most = costs.entry(sql).or_insert(0);
            *most = (*most).max(steps - before);
        }
    };
    Ok(conn.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(note))?)
}

fn watched() -> MutexGuard<'static, BTreeMap<PathBuf, Costs>> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}
