//! The disk of the database and of its copies.

use std::io;
use std::path::Path;

/// Free disk space in bytes below which the database can soon not be written. A copy leaves as much.
pub const LEAST_FREE: u64 = 64 << 20;

/// Returns the number of bytes that this user may still write on the disk of `folder`.
pub fn free_space(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Returns the folder of a file; `.` for a file name without a folder.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
