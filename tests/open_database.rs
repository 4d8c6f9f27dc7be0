//! Opening a database: a new one, a newer one, one of another program, one that is gone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rusqlite::Connection;

fn open(path: &Path) -> chime_store::Result<chime_store::Opened> {
    let now = chime_core::Timestamp::from_secs(1_700_000_000);
    chime_store::Store::open(path, now).map(|(_, opened)| opened)
}

#[test]
fn a_fresh_database_and_what_is_beside_it_are_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    open(&path).unwrap();
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    for name in ["chime.db", "chime.db-wal", "chime.db-shm"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_newer_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("newer.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE message (id INTEGER PRIMARY KEY) STRICT").unwrap();
    conn.pragma_update(None, "application_id", 0x4348_4d32).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
    assert!(std::fs::read(&path).unwrap() == before, "the file was changed");
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let before_the_first_release = "PRAGMA application_id = 0x4348494d; PRAGMA user_version = 1";
    for (name, pragmas) in [("other.db", ""), ("old.db", before_the_first_release)] {
        let path = folder.path().join(name);
        Connection::open(&path).unwrap().execute_batch(&format!("CREATE TABLE theirs (a); {pragmas}")).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains("not a Chime database"), "{error}");
    }
}

#[test]
fn a_database_that_is_gone_is_not_silently_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = open(&path).unwrap_err().to_string();
    assert!(error.contains("is gone"), "{error}");
}

#[test]
fn a_second_daemon_on_the_same_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chime.db");
    let now = chime_core::Timestamp::from_secs(1_700_000_000);
    let (first, _) = chime_store::Store::open(&path, now).unwrap();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for path in [&path, &link] {
        let error = open(path).unwrap_err().to_string();
        assert!(error.contains("another chime"), "{error}");
    }
    drop(first);
}
