//! New databases without running every migration again: most tests begin with one.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tokio::sync::OnceCell;

use crate::Store;
use chime_core::Timestamp;

/// Writes a database to `path` as the first start of the daemon leaves it: a copy of one that the daemon's own code makes once a
/// process.
///
/// # Panics
/// When it cannot be made or written.
#[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
pub async fn write_new_database(path: &Path) {
    static MADE: OnceCell<Vec<u8>> = OnceCell::const_new();
    let bytes = MADE.get_or_init(async || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = folder.path().join("chime.db");
        let (store, _) = Store::open(&first, Timestamp::default()).expect("open a new database");
        store.close().await;
        std::fs::read(&first).expect("read the new database")
    });
    let bytes = bytes.await;
    let mut file =
        std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).expect("create the database");
    file.write_all(bytes).expect("write the database");
}

/// A new store in a folder that goes with the guard, for what one room alone does with it.
///
/// # Panics
/// When it cannot be made.
#[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
pub async fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("chime.db");
    write_new_database(&path).await;
    let (store, _) = Store::open(&path, Timestamp::default()).expect("open the new database");
    (folder, store)
}
