//! Numbered migrations of the schema. There are none back to older versions. Each runs in one transaction. `PRAGMA
//! user_version` contains the version of a file.

use rusqlite::Connection;

use super::{Result, StoreError};

/// SQL of all migrations in order. The first one leads to version 1.
const MIGRATIONS: [&str; 4] = [
    include_str!("../../../migrations/0001_schema.sql"),
    include_str!("../../../migrations/0002_members_who_left.sql"),
    include_str!("../../../migrations/0003_recent_controls.sql"),
    include_str!("../../../migrations/0004_forgetting.sql"),
];

/// Schema version that this program writes, and the newest that it can read.
pub const KNOWN: u32 = MIGRATIONS.len() as u32;

pub fn version(conn: &Connection) -> Result<u32> {
    Ok(conn.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Runs the migrations that a database lacks. Afterwards it has version [`KNOWN`].
pub fn migrate(conn: &mut Connection) -> Result<()> {
    apply(conn, &MIGRATIONS)
}

fn apply(conn: &mut Connection, migrations: &[&str]) -> Result<()> {
    let from = version(conn)?;
    for (version, sql) in (1..).zip(migrations).skip(from as usize) {
        let apply = |conn: &mut Connection| {
            let tx = conn.transaction()?;
            tx.execute_batch(sql)?;
            tx.pragma_update(None, "user_version", version)?;
            tx.commit()
        };
        apply(conn).map_err(|source| StoreError::Migration { version, source })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newer_migrations_run_and_a_failed_one_changes_nothing() {
        let mut conn = Connection::open_in_memory().unwrap();
        let first = "CREATE TABLE one (a INTEGER) STRICT; INSERT INTO one VALUES (1);";
        apply(&mut conn, &[first]).unwrap();
        let broken = "INSERT INTO one VALUES (2); INSERT INTO nowhere VALUES (3);";
        assert!(apply(&mut conn, &[first, broken]).is_err());
        let found =
            |conn: &Connection| -> i64 { conn.query_row("SELECT sum(a) FROM one", [], |row| row.get(0)).unwrap() };
        assert_eq!((version(&conn).unwrap(), found(&conn)), (1, 1));
        apply(&mut conn, &[first, "INSERT INTO one VALUES (4);"]).unwrap();
        assert_eq!((version(&conn).unwrap(), found(&conn)), (2, 5));
    }

    #[test]
    fn every_file_in_the_folder_is_a_migration() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), MIGRATIONS.len());
    }
}
