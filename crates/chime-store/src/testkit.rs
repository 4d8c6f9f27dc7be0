//! New databases for tests. They are copied from one that was migrated once per process, which is faster.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tokio::sync::OnceCell;

use crate::Store;
use chime_core::Timestamp;

/// Writes a new database to `path`, as after the daemon's first start. Copies one that is made once per process.
///
/// # Panics
/// If the database cannot be made or written.
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

/// Creates a new store in a temporary directory, which is deleted with the returned guard.
///
/// # Panics
/// If the store cannot be created.
#[expect(clippy::expect_used, reason = "a test that cannot go on says so by panicking")]
pub async fn new_store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("chime.db");
    write_new_database(&path).await;
    let (store, _) = Store::open(&path, Timestamp::default()).expect("open the new database");
    (folder, store)
}
