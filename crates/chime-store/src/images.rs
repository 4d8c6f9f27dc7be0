//! Copies of the database after each commit, for tests. A copy is what a process killed at that point finds at its next
//! start. Only built with the feature `testkit`, so not in releases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rusqlite::{Connection, named_params};

use super::{Result, open};
use chime_core::{JobKind, Timestamp};

/// State of the database after one commit.
#[derive(Debug, Clone)]
pub struct Image {
    /// Path of the copy. The file exists only if `is_wanted` returned `true`.
    pub file: PathBuf,
    pub at: Timestamp,
    /// Kinds of the jobs that were due at that time and may have been running.
    pub due: Vec<JobKind>,
}

type Now = Box<dyn Fn() -> Timestamp + Send>;
type IsWanted = Box<dyn Fn(&[JobKind]) -> bool + Send>;

struct CommitRecording {
    folder: PathBuf,
    now: Now,
    is_wanted: IsWanted,
    images: Vec<Image>,
}

static RECORDINGS: Mutex<BTreeMap<PathBuf, CommitRecording>> = Mutex::new(BTreeMap::new());

/// Starts to record each commit to the database at `path`, with the kinds of jobs that are due at `now()`. Also copies
/// the database into `folder` if `is_wanted` returns `true` for these kinds.
pub fn start(
    path: &Path,
    folder: &Path,
    now: impl Fn() -> Timestamp + Send + 'static,
    is_wanted: impl Fn(&[JobKind]) -> bool + Send + 'static,
) {
    let (now, is_wanted): (Now, IsWanted) = (Box::new(now), Box::new(is_wanted));
    let album = CommitRecording { folder: folder.to_owned(), now, is_wanted, images: Vec::new() };
    RECORDINGS.lock().insert(path.to_owned(), album);
}

/// Stops recording and returns an image for each commit, in order.
pub fn stop(path: &Path) -> Vec<Image> {
    RECORDINGS.lock().remove(path).map(|album| album.images).unwrap_or_default()
}

/// Copies the database and its log after a commit, while the writer does nothing.
pub(super) fn take(writer: &Connection) {
    let mut albums = RECORDINGS.lock();
    let Some(album) = writer.path().and_then(|path| albums.get_mut(Path::new(path))) else { return };
    let file = album.folder.join(format!("{}.db", album.images.len()));
    let at = (album.now)();
    let copied = due(writer, at).and_then(|due| {
        let ends: &[&str] = if (album.is_wanted)(&due) { &["", "-wal"] } else { &[] };
        for end in ends {
            let from = writer.path().map(|path| open::beside(Path::new(path), end)).unwrap_or_default();
            let to = open::beside(&file, end);
            std::fs::copy(&from, &to).map_err(|source| open::file_error("cannot copy", &from, source))?;
        }
        Ok(due)
    });
    match copied {
        Ok(due) => album.images.push(Image { file, at, due }),
        Err(error) => tracing::error!(%error, "no image was taken"),
    }
}

fn due(conn: &Connection, now: Timestamp) -> Result<Vec<JobKind>> {
    let mut statement =
        conn.prepare_cached("SELECT DISTINCT kind FROM job WHERE state = 'due' AND due_at <= :now ORDER BY kind")?;
    let kinds = statement.query_map(named_params! { ":now": now.millis() }, |raw| raw.get::<_, String>("kind"))?;
    let kinds = kinds.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(kinds.iter().filter_map(|kind| JobKind::parse(kind)).collect())
}
