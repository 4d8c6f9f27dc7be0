//! Copies of the database that Chime makes by itself: before migrations beside the database, and daily in `BACKUP_DIR`.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};
use tokio_util::sync::CancellationToken;

use super::disk::{LEAST_FREE, folder_of, free_space};
use super::sql::{Statements, params};
use super::{Copied, Reader, Result, Writer, open, snapshot};
use chime_core::Timestamp;
use chime_core::config::BackupConfig;

const DAY: Duration = Duration::from_hours(24);
const KEPT: usize = 3;
/// Longest age of any copy. `/privacy` states it.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// A daily copy may be made this much later than the one of the day before.
const DELAY: Duration = Duration::from_hours(2);
/// Longest time that a copy can take. A copy may be in progress while old ones are pruned, so younger directories stay.
const COPYING_TAKES: Duration = Duration::from_hours(24);
const TIME: &str = "%Y%m%d-%H%M%S";
const HOUR_S: i64 = 60 * 60;
/// A copy dated later than this after now was made while the clock was wrong.
const CLOCK_CORRECTION: Duration = Duration::from_hours(1);
/// Hour of the day, in UTC, after which the daily copy is made. The database file is rewritten in this hour, so the
/// copy contains no remains of deleted text.
pub const QUIET_HOUR: i64 = 3;
/// A copy that began this long before a deletion counts as made after it, because copies are deleted shortly before.
const OVERLAP: Duration = Duration::from_mins(1);

/// Reason for which a copy was made. Part of its file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CopyKind {
    BeforeMigration,
    Daily,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Copy {
    path: PathBuf,
    made_at: Timestamp,
}

impl Copy {
    fn is_from_future(&self, now: Timestamp) -> bool {
        self.made_at > now.plus(CLOCK_CORRECTION)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedCopy {
    pub path: PathBuf,
    pub made_at: Timestamp,
    pub bytes: u64,
    /// Number of stored messages, or `None` if the copy cannot be read.
    pub messages: Option<u64>,
}

/// Returns the path of the copy that is made of `path` before the migration to `version`.
pub fn before_migration(path: &Path, version: u32, now: Timestamp) -> PathBuf {
    open::beside(path, &format!(".before-v{version}-{}", now.to_utc().format(TIME)))
}

/// Daily copies of a database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DailyCopies {
    /// Time of the newest copy that is not from the future.
    pub newest: Option<Timestamp>,
    /// Copies dated in the future: the clock was wrong when they were made.
    pub from_future: Vec<PathBuf>,
}

/// Makes the daily copy of the database at `path` if it is due, then deletes the oldest copies beyond the number to
/// keep, first of all those from the future. Always deletes what interrupted copies left. Returns `None` if no copy was
/// due.
///
/// # Errors
/// `StoreError::File` if the folder cannot be written or its disk has too little space. Nothing is left then.
pub fn make_daily(
    path: &Path,
    config: &BackupConfig,
    now: Timestamp,
    stop: &CancellationToken,
) -> Result<Option<Copied>> {
    let folder = &config.folder;
    fs::create_dir_all(folder).map_err(|source| open::file_error("cannot create", folder, source))?;
    delete_broken(folder, is_unlocked)?;
    if !is_due(daily(path, folder, now)?.newest, now) {
        return Ok(None);
    }
    let source = open::connect_to_read(path)?;
    open::check(&source, path)?;
    must_have_space(folder, open::size(&source)?)?;
    let name = path.file_name().unwrap_or_default();
    let to = open::beside(&folder.join(name), &format!(".daily-{}", now.to_utc().format(TIME)));
    let copied = snapshot::copy_unless(&source, &to, stop)?;
    let mut copies = copies(folder, path, CopyKind::Daily)?;
    copies.sort_by_key(|copy| (copy.is_from_future(now), std::cmp::Reverse(copy.made_at)));
    delete(copies.into_iter().skip(config.kept))?;
    Ok(Some(copied))
}

/// Returns the state of the daily copies in `folder`.
pub fn daily(path: &Path, folder: &Path, now: Timestamp) -> Result<DailyCopies> {
    let copies = copies(folder, path, CopyKind::Daily)?;
    let (from_future, past): (Vec<Copy>, Vec<Copy>) = copies.into_iter().partition(|copy| copy.is_from_future(now));
    Ok(DailyCopies {
        newest: past.into_iter().map(|copy| copy.made_at).max(),
        from_future: from_future.into_iter().map(|copy| copy.path).collect(),
    })
}

/// Returns all copies of the database at `path`, newest first.
pub fn list(path: &Path, folder: Option<&Path>) -> Result<Vec<ListedCopy>> {
    let mut found = copies(folder_of(path), path, CopyKind::BeforeMigration)?;
    if let Some(folder) = folder {
        found.extend(copies(folder, path, CopyKind::Daily)?);
    }
    found.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
    let listed = |Copy { path, made_at }| {
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        ListedCopy { messages: count_messages(&path).ok(), path, made_at, bytes }
    };
    Ok(found.into_iter().map(listed).collect())
}

fn count_messages(copy: &Path) -> Result<u64> {
    let conn = open::connect_to_read(copy)?;
    open::check(&conn, copy)?;
    Ok(conn.query_row("SELECT count(*) FROM message", [], |row| row.get(0))?)
}

/// Returns `true` once a day in the quiet hour, or if the newest copy is older than a day.
fn is_due(newest: Option<Timestamp>, now: Timestamp) -> bool {
    let Some(newest) = newest else { return true };
    let age = now.secs() - newest.secs();
    let is_quiet_hour = now.secs().rem_euclid(24 * HOUR_S) / HOUR_S == QUIET_HOUR;
    age > 25 * HOUR_S || (is_quiet_hour && age > 2 * HOUR_S)
}

fn must_have_space(folder: &Path, bytes: u64) -> Result<()> {
    let action = "there is too little space for a copy in";
    let free = free_space(folder).map_err(|error| open::file_error(action, folder, error))?;
    match free < bytes.saturating_add(LEAST_FREE) {
        true => Err(open::file_error(action, folder, ErrorKind::StorageFull.into())),
        false => Ok(()),
    }
}

/// Returns the longest age of a daily copy, if `kept` of them are kept.
pub fn longest_age(kept: usize) -> Duration {
    DAY.saturating_mul(u32::try_from(kept).unwrap_or(u32::MAX)).min(KEPT_FOR) + DELAY
}

/// Records that daily copies are made in `folder`.
pub fn note_folder(tx: &Writer<'_>, folder: &Path) -> Result<()> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let path = folder.as_os_str().as_bytes();
    tx.run("INSERT INTO backup_folder (path) VALUES (:path) ON CONFLICT (path) DO NOTHING", params! { ":path": path })
}

/// Returns the folders in which daily copies were made and that can be read.
pub fn folders(conn: &Reader) -> Result<Vec<PathBuf>> {
    let paths: Vec<Vec<u8>> = conn.all("SELECT path FROM backup_folder", &[])?;
    let folders = paths.into_iter().map(|path| PathBuf::from(OsString::from_vec(path)));
    Ok(folders.filter(|folder| fs::read_dir(folder).is_ok()).collect())
}

/// Deletes the daily copies in `folders` that are older than `age`. Returns the number of deletions.
pub fn prune_daily(path: &Path, folders: &[PathBuf], age: Duration, now: Timestamp) -> Result<usize> {
    let mut deleted = 0;
    for folder in folders {
        let copies = copies(folder, path, CopyKind::Daily)?;
        deleted += delete(copies.into_iter().filter(|copy| now.since(copy.made_at) > age))?;
    }
    Ok(deleted)
}

/// Deletes all but the newest copies from before migrations, those that are too old, and what interrupted copies left.
/// Returns the number of deletions.
pub fn prune(path: &Path, now: Timestamp) -> Result<usize> {
    let broken = delete_broken(folder_of(path), |directory| is_unlocked(directory) || is_old(directory, now))?;
    let mut copies = copies(folder_of(path), path, CopyKind::BeforeMigration)?;
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
    // The name of the installer's copy has a time far in the future until the copy is finished.
    let is_unfinished = |copy: &Copy| copy.made_at > now && is_old(&copy.path, now);
    let too_many =
        |place: usize, copy: &Copy| place >= KEPT || now.since(copy.made_at) > KEPT_FOR || is_unfinished(copy);
    let deleted =
        delete(copies.into_iter().enumerate().filter(|(place, copy)| too_many(*place, copy)).map(|(_, copy)| copy))?;
    Ok(broken + deleted)
}

/// Deletes the temporary directories for which `is_broken` returns `true`: their copy was interrupted.
fn delete_broken(folder: &Path, is_broken: impl Fn(&Path) -> bool) -> Result<usize> {
    let mut deleted = 0;
    for path in files_in(folder)? {
        let is_copy_folder =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(snapshot::COPY_FOLDER));
        if is_copy_folder && is_broken(&path) {
            fs::remove_dir_all(&path)
                .map_err(|source| open::file_error("cannot delete the broken copy", &path, source))?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns `true` if no program is writing the copy in `directory`: it would have locked the file.
fn is_unlocked(directory: &Path) -> bool {
    fs::File::open(directory.join(snapshot::COPY_LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// Returns `true` if a file or directory is too old to be in use. Needed for directories whose lock file is missing or
/// cannot be opened.
fn is_old(path: &Path, now: Timestamp) -> bool {
    let touched = fs::metadata(path).and_then(|metadata| metadata.modified());
    let touched = touched.map(|time| Timestamp::from_secs(DateTime::<Utc>::from(time).timestamp()));
    touched.is_ok_and(|touched| now.since(touched) > COPYING_TAKES)
}

/// Deletes the copies that may contain a message sent at `sent_at`: all copies made since then, and interrupted ones.
/// In `folders`, the folders of the daily copies, this also ends a copy in progress, which fails. Returns the number of
/// deletions.
pub fn delete_since(path: &Path, folders: &[PathBuf], sent_at: Timestamp) -> Result<usize> {
    let mut deleted = delete_broken(folder_of(path), is_unlocked)?;
    // `made_at` is in whole seconds, so a copy made in the same second may contain the message.
    let since = sent_at.minus(OVERLAP).secs();
    let mut found = copies(folder_of(path), path, CopyKind::BeforeMigration)?;
    for folder in folders {
        deleted += delete_broken(folder, |_| true)?;
        found.extend(copies(folder, path, CopyKind::Daily)?);
    }
    deleted += delete(found.into_iter().filter(|copy| copy.made_at.secs() >= since))?;
    Ok(deleted)
}

fn copies(folder: &Path, path: &Path, kind: CopyKind) -> Result<Vec<Copy>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let copy = |path: PathBuf| {
        let made_at = made_at(&path.file_name()?.to_string_lossy(), &name, kind)?;
        Some(Copy { path, made_at })
    };
    Ok(files_in(folder)?.into_iter().filter_map(copy).collect())
}

/// Returns the paths of all files in the directory; none if it does not exist.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let problem = |source| open::file_error("cannot look for copies in", folder, source);
    match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        files => files.map_err(problem)?.map(|entry| Ok(entry.map_err(problem)?.path())).collect(),
    }
}

/// Returns the time at which a copy was made, which its file name contains, or `None` if `file` is no such copy. `name`
/// is the file name of the database.
fn made_at(file: &str, name: &str, kind: CopyKind) -> Option<Timestamp> {
    let rest = file.strip_prefix(name)?;
    let time = match kind {
        CopyKind::BeforeMigration => rest.strip_prefix(".before-v")?.split_once('-')?.1,
        CopyKind::Daily => rest.strip_prefix(".daily-")?,
    };
    let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
    Some(Timestamp::from_secs(time.and_utc().timestamp()))
}

fn delete(copies: impl Iterator<Item = Copy>) -> Result<usize> {
    let mut deleted = 0;
    for Copy { path, .. } in copies {
        match fs::remove_file(&path) {
            Ok(()) => deleted += 1,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(open::file_error("cannot delete the copy", &path, source)),
        }
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ages, in days, of the copies that remain after `act`.
    fn left(ages: &[u32], act: impl Fn(&Path, Timestamp) -> Result<usize>) -> Vec<u32> {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("chime.db");
        let now = Timestamp::from_secs(1_767_621_720);
        let copy = |age: &u32| before_migration(&database, 4, now.minus(DAY * *age));
        for path in ages.iter().map(copy).chain([database.clone(), folder.path().join("chime.db.before-lunch")]) {
            fs::write(path, "").unwrap();
        }
        act(&database, now).unwrap();
        assert!(database.exists() && folder.path().join("chime.db.before-lunch").exists());
        ages.iter().copied().filter(|age| copy(age).exists()).collect()
    }

    #[test]
    fn the_newest_three_copies_stay_for_a_month() {
        assert_eq!(left(&[1, 2, 3, 4, 40], prune), [1, 2, 3]);
        assert_eq!(left(&[1, 31, 40], prune), [1]);
    }

    #[tokio::test]
    async fn a_copy_from_the_future_replaces_no_other_and_is_the_first_to_go() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("chime.db");
        crate::testkit::write_new_database(&database).await;
        let now = Timestamp::from_secs(1_767_621_720);
        let copy = |at: Timestamp| open::beside(&database, &format!(".daily-{}", at.to_utc().format(TIME)));
        let hours_ago = |hours: u32| now.minus(Duration::from_hours(1) * hours);
        let future = now.plus(DAY * 400);
        for at in [hours_ago(20), hours_ago(44), future] {
            fs::write(copy(at), "").unwrap();
        }
        let config = BackupConfig { folder: folder.path().to_owned(), kept: 3 };
        let make = |now| make_daily(&database, &config, now, &CancellationToken::new()).unwrap().is_some();
        assert!(!make(now), "the newest is 20 hours old");
        let state = daily(&database, folder.path(), now).unwrap();
        assert_eq!(state, DailyCopies { newest: Some(hours_ago(20)), from_future: vec![copy(future)] });
        let tomorrow = now.plus(Duration::from_hours(6));
        assert!(make(tomorrow));
        let left = [hours_ago(20), hours_ago(44), future, tomorrow].map(|at| copy(at).exists());
        assert_eq!(left, [true, true, false, true]);
    }

    #[test]
    fn what_a_killed_copy_left_goes_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join(format!("{}x1y2", snapshot::COPY_FOLDER));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("half"), "of a database").unwrap();
        let made = fs::metadata(&directory).unwrap().modified().unwrap();
        let made = Timestamp::from_secs(DateTime::<Utc>::from(made).timestamp());
        let database = folder.path().join("chime.db");
        assert_eq!(prune(&database, made.plus(Duration::from_mins(1))).unwrap(), 0);
        assert!(directory.exists(), "it may still be under way");
        assert_eq!(prune(&database, made.plus(DAY * 2)).unwrap(), 1);
        assert!(!directory.exists());
    }

    #[test]
    fn what_a_killed_installer_left_goes_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("chime.db.before-vnext7-99991231-235959");
        fs::write(&copy, "half of a database").unwrap();
        let made = fs::metadata(&copy).unwrap().modified().unwrap();
        let made = Timestamp::from_secs(DateTime::<Utc>::from(made).timestamp());
        let database = folder.path().join("chime.db");
        assert_eq!(prune(&database, made.plus(Duration::from_mins(1))).unwrap(), 0, "it may still be under way");
        assert_eq!(prune(&database, made.plus(DAY * 2)).unwrap(), 1);
        assert!(!copy.exists());
    }

    #[test]
    fn what_a_killed_copy_left_is_forgotten_at_once_unless_it_is_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join(format!("{}x1y2", snapshot::COPY_FOLDER));
        fs::create_dir(&directory).unwrap();
        let lock = fs::File::create(directory.join(snapshot::COPY_LOCK)).unwrap();
        lock.lock().unwrap();
        let database = folder.path().join("chime.db");
        let now = Timestamp::from_secs(1_767_621_720);
        assert_eq!(delete_since(&database, &[], now).unwrap(), 0);
        assert!(directory.exists(), "the copy is under way");
        drop(lock);
        assert_eq!(delete_since(&database, &[], now).unwrap(), 1);
        assert!(!directory.exists());
    }

    #[test]
    fn copies_from_before_a_message_cannot_hold_it_and_stay() {
        assert_eq!(left(&[0, 5, 10], |path, now| delete_since(path, &[], now.minus(DAY * 5))), [10]);
    }

    #[test]
    fn a_disk_that_a_copy_would_fill_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(must_have_space(folder.path(), 1).is_ok());
        let refused = must_have_space(folder.path(), u64::MAX / 2).unwrap_err();
        let cause = std::error::Error::source(&refused).and_then(|cause| cause.downcast_ref::<std::io::Error>());
        assert_eq!(cause.map(std::io::Error::kind), Some(ErrorKind::StorageFull), "{refused}");
    }

    #[test]
    fn a_copy_is_due_each_day_in_the_quiet_hour_and_later_if_it_was_missed() {
        let midnight = Timestamp::from_secs(1_767_571_200);
        let at = |day: u32, hour: u32| midnight.plus(DAY * day + Duration::from_hours(1) * hour);
        let table = [
            (None, at(0, 12), true),
            (Some(at(0, 12)), at(1, 2), false),
            (Some(at(0, 12)), at(1, 3), true),
            (Some(at(1, 3)), at(1, 3), false),
            (Some(at(1, 3)), at(2, 3), true),
            (Some(at(1, 3)), at(2, 5), true),
        ];
        for (newest, now, expected) in table {
            assert_eq!(is_due(newest, now), expected, "{newest:?} {now:?}");
        }
    }
}
