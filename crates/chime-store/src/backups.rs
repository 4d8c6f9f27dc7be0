//! Copies of the database that are made before migrations.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};

use super::{Result, StoreError, snapshot};
use chime_core::Timestamp;

const KEPT: usize = 3;
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Longest time that a copy can take. A copy may be in progress while old ones are pruned, so younger directories stay.
const COPYING_TAKES: Duration = Duration::from_secs(24 * 60 * 60);
const MARK: &str = ".before-v";
const TIME: &str = "%Y%m%d-%H%M%S";

/// Returns the path of the copy that is made of `path` before the migration to `version`.
pub fn before_migration(path: &Path, version: u32, now: Timestamp) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("{MARK}{version}-{}", now.to_utc().format(TIME)));
    PathBuf::from(name)
}

/// Deletes all but the newest copies, copies that are too old, and what interrupted copies left. Returns the number of
/// deletions.
pub fn prune(path: &Path, now: Timestamp) -> Result<usize> {
    let broken = delete_broken(path, |room| is_unlocked(room) || is_old(room, now))?;
    let mut copies = copies(path)?;
    copies.sort_by_key(|copy| std::cmp::Reverse(copy.made_at));
    let too_many = |place: usize, copy: &Copy| place >= KEPT || now.since(copy.made_at) > KEPT_FOR;
    let deleted =
        delete(copies.into_iter().enumerate().filter(|(place, copy)| too_many(*place, copy)).map(|(_, copy)| copy))?;
    Ok(broken + deleted)
}

/// Deletes the temporary directories for which `is_broken` returns `true`: their copy was interrupted.
fn delete_broken(database: &Path, is_broken: impl Fn(&Path) -> bool) -> Result<usize> {
    let mut deleted = 0;
    for path in beside(database)? {
        let is_room = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(snapshot::ROOM));
        if is_room && is_broken(&path) {
            fs::remove_dir_all(&path).map_err(|source| StoreError::File {
                action: "cannot delete the broken copy",
                path,
                source,
            })?;
            deleted += 1;
        }
    }
    Ok(deleted)
}

/// Returns `true` if no program is making this copy: it would have locked the file.
fn is_unlocked(room: &Path) -> bool {
    fs::File::open(room.join(snapshot::ROOM_LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// Returns `true` if the directory is too old to be in use. Needed for directories whose lock file is missing or cannot
/// be opened.
fn is_old(room: &Path, now: Timestamp) -> bool {
    let touched = fs::metadata(room).and_then(|metadata| metadata.modified());
    let touched = touched.map(|time| Timestamp::from_secs(DateTime::<Utc>::from(time).timestamp()));
    touched.is_ok_and(|touched| now.since(touched) > COPYING_TAKES)
}

/// Deletes the copies that may contain a message sent at `sent_at`: all copies made since then, and interrupted ones.
/// Returns the number of deletions.
pub fn delete_since(path: &Path, sent_at: Timestamp) -> Result<usize> {
    let broken = delete_broken(path, is_unlocked)?;
    // `made_at` is in whole seconds, so a copy made in the same second may contain the message.
    let deleted = delete(copies(path)?.into_iter().filter(|copy| copy.made_at.secs() >= sent_at.secs()))?;
    Ok(broken + deleted)
}

struct Copy {
    path: PathBuf,
    made_at: Timestamp,
}

fn copies(database: &Path) -> Result<Vec<Copy>> {
    let Some(name) = database.file_name().map(|name| name.to_string_lossy().into_owned()) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for path in beside(database)? {
        let made_at = path.file_name().and_then(|file| made_at(&file.to_string_lossy(), &name));
        found.extend(made_at.map(|made_at| Copy { path, made_at }));
    }
    Ok(found)
}

/// Returns the paths of all files in the directory of the database.
fn beside(database: &Path) -> Result<Vec<PathBuf>> {
    let folder = match database.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let problem = |source| StoreError::File { action: "cannot look for copies in", path: folder.to_owned(), source };
    fs::read_dir(folder).map_err(problem)?.map(|entry| Ok(entry.map_err(problem)?.path())).collect()
}

/// Returns the time at which a copy was made, which its file name contains, or `None` if `file` is no copy. `name` is
/// the file name of the database.
fn made_at(file: &str, name: &str) -> Option<Timestamp> {
    let (_version, time) = file.strip_prefix(name)?.strip_prefix(MARK)?.split_once('-')?;
    let time = NaiveDateTime::parse_from_str(time, TIME).ok()?;
    Some(Timestamp::from_secs(time.and_utc().timestamp()))
}

fn delete(copies: impl Iterator<Item = Copy>) -> Result<usize> {
    let mut deleted = 0;
    for Copy { path, .. } in copies {
        match fs::remove_file(&path) {
            Ok(()) => deleted += 1,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::File { action: "cannot delete the copy", path, source }),
        }
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

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

    #[test]
    fn what_a_killed_copy_left_goes_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let room = folder.path().join(format!("{}x1y2", snapshot::ROOM));
        fs::create_dir(&room).unwrap();
        fs::write(room.join("half"), "of a database").unwrap();
        let made = fs::metadata(&room).unwrap().modified().unwrap();
        let made = Timestamp::from_secs(DateTime::<Utc>::from(made).timestamp());
        let database = folder.path().join("chime.db");
        assert_eq!(prune(&database, made.plus(Duration::from_secs(60))).unwrap(), 0);
        assert!(room.exists(), "it may still be under way");
        assert_eq!(prune(&database, made.plus(DAY * 2)).unwrap(), 1);
        assert!(!room.exists());
    }

    #[test]
    fn what_a_killed_copy_left_is_forgotten_at_once_unless_it_is_under_way() {
        let folder = tempfile::tempdir().unwrap();
        let room = folder.path().join(format!("{}x1y2", snapshot::ROOM));
        fs::create_dir(&room).unwrap();
        let lock = fs::File::create(room.join(snapshot::ROOM_LOCK)).unwrap();
        lock.lock().unwrap();
        let database = folder.path().join("chime.db");
        let now = Timestamp::from_secs(1_767_621_720);
        assert_eq!(delete_since(&database, now).unwrap(), 0);
        assert!(room.exists(), "the copy is under way");
        drop(lock);
        assert_eq!(delete_since(&database, now).unwrap(), 1);
        assert!(!room.exists());
    }

    #[test]
    fn copies_from_before_a_message_cannot_hold_it_and_stay() {
        assert_eq!(left(&[0, 5, 10], |path, now| delete_since(path, now.minus(DAY * 5))), [10]);
    }
}
