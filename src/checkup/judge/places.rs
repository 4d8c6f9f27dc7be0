//! Findings about files, folders and network addresses.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use crate::checkup::CheckFinding;
use chime_core::{Timestamp, span_in_words};
use chime_store::StoreError;
use chime_store::backups::DailyCopies;

/// Reason why the database cannot be created or opened at its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The parent folder does not exist.
    NoFolder,
    /// The parent folder is not writable.
    LockedFolder,
    IsFolder,
    Unreadable,
}

pub fn obstacle(path: &Path, obstacle: Obstacle) -> CheckFinding {
    const NAME: &str = "database";
    let (place, folder) = (path.display(), path.parent().unwrap_or(path).display());
    match obstacle {
        Obstacle::NoFolder => CheckFinding::fail(
            NAME,
            format!("the folder {folder} does not exist"),
            format!("mkdir -p {folder}, or set DATABASE_PATH to a file in a folder that exists"),
        ),
        Obstacle::LockedFolder => CheckFinding::fail(
            NAME,
            format!("nothing can be written in the folder {folder}"),
            "give the user that runs chime the right to write there, or set DATABASE_PATH to another place",
        ),
        Obstacle::IsFolder => CheckFinding::fail(
            NAME,
            format!("{place} is a folder"),
            format!("set DATABASE_PATH to a file, for example {}", path.join("chime.db").display()),
        ),
        Obstacle::Unreadable => CheckFinding::fail(
            NAME,
            format!("{place} cannot be read"),
            "give the user that runs chime the right to read and write the file",
        ),
    }
}

/// Age above which the newest daily backup is overdue.
const OVERDUE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// Warns that no daily backups are made.
pub fn no_backups() -> CheckFinding {
    CheckFinding::warn("backups", "none are made", "set BACKUP_DIR to a folder, best on another disk")
}

/// Reports on the daily backups.
pub fn backups(
    folder: &Path,
    is_writable: bool,
    copies: &Result<DailyCopies, StoreError>,
    now: Timestamp,
) -> Vec<CheckFinding> {
    const NAME: &str = "backups";
    let place = folder.display();
    let age = copies.as_ref().map(|copies| copies.newest.map(|made_at| now.since(made_at)));
    let newest = match age {
        Err(error) => CheckFinding::warn(NAME, error.to_string(), "give the user that runs chime the right to read it"),
        Ok(_) if !is_writable => CheckFinding::warn(
            NAME,
            format!("nothing can be written in {place}, so no backups are made"),
            "give the user that runs chime the right to write there, or set BACKUP_DIR to another folder",
        ),
        Ok(None) => CheckFinding::ok(NAME, format!("none yet in {place}; the first follows a minute after the start")),
        Ok(Some(age)) if age > OVERDUE => CheckFinding::warn(
            NAME,
            format!("the newest in {place} is {} old", span_in_words(age)),
            "look for `backup` in the log of chime run",
        ),
        Ok(Some(age)) => CheckFinding::ok(NAME, format!("the newest in {place} is {} old", span_in_words(age))),
    };
    let misdated = copies.iter().flat_map(|copies| &copies.from_future).map(|copy| {
        CheckFinding::warn(
            NAME,
            format!("{} is dated in the future: the clock was wrong when it was made", copy.display()),
            "delete it",
        )
    });
    std::iter::once(newest).chain(misdated).collect()
}

/// State of a network address to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortState {
    Free,
    /// In use by a running Chime.
    Ours,
    Taken,
    /// Not available on this machine, for this reason.
    Unusable(String),
}

pub fn port_state(key: &str, address: &dyn Display, port_state: &PortState) -> CheckFinding {
    const NAME: &str = "http";
    match port_state {
        PortState::Free => CheckFinding::ok(NAME, format!("{address} is free")),
        PortState::Ours => CheckFinding::ok(NAME, format!("a running chime serves {address}")),
        PortState::Taken => CheckFinding::fail(
            NAME,
            format!("another program listens at {key} {address}"),
            format!("set {key} to another port, or to off"),
        ),
        PortState::Unusable(why) => CheckFinding::fail(
            NAME,
            format!("{key} {address} cannot be served: {why}"),
            format!("set {key} to an address of this machine and a port above 1023, or to off"),
        ),
    }
}

/// Reports on the folder of prompt templates. `found` is the number of templates and the placeholders missing in them,
/// or the error that makes them unusable.
pub fn prompts(folder: &Path, found: &Result<(usize, Vec<String>), String>) -> CheckFinding {
    const NAME: &str = "prompts";
    let place = folder.display();
    match found {
        Ok((0, _)) => CheckFinding::warn(
            NAME,
            format!("{place} holds none of the templates, so the built-in ones are used"),
            "copy the templates that you want to change into it, or unset PROMPTS_DIR",
        ),
        Ok((_, gaps)) if !gaps.is_empty() => CheckFinding::warn(
            NAME,
            format!("{place}: {}", gaps.join(", ")),
            "put back what the built-in template shows, or remove the file",
        ),
        Ok((count, _)) => CheckFinding::ok(NAME, format!("{place} replaces {count} of the templates")),
        Err(why) => CheckFinding::fail(NAME, format!("{place}: {why}"), "correct the template, or unset PROMPTS_DIR"),
    }
}
