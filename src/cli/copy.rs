//! `chime backup` and `chime restore`: copy the database to a new file and check the copy. They never overwrite a file.

use std::io::Write;
use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::arguments::{BackupOptions, RestoreOptions};
use crate::cli::database;
use crate::cli::exit::{CommandError, CommandResult, Exit};
use chime_core::config::{BackupConfig, StoreConfig, rounded_size};
use chime_runtime::clock::Clock;
use chime_store::backups::{self, ListedCopy};
use chime_store::{Copied, StoreError};

pub async fn back_up(options: BackupOptions) -> CommandResult {
    let from = database::path()?;
    let to = if options.dest.is_dir() {
        let now = Clock::system().now().to_utc();
        options.dest.join(now.format("chime-%Y%m%d-%H%M%S.db").to_string())
    } else {
        options.dest
    };
    tell("copied the database to", &until_signalled(move |stop| chime_store::back_up(&from, &to, stop)).await?)
}

pub async fn restore(options: RestoreOptions) -> CommandResult {
    let StoreConfig { path, backups } = database::store()?;
    let Some(from) = options.src else { return list(&path, backups.as_ref()) };
    tell("restored the database to", &until_signalled(move |stop| chime_store::restore(&from, &path, stop)).await?)
}

/// Prints the automatic copies, newest first.
fn list(path: &Path, config: Option<&BackupConfig>) -> CommandResult {
    let copies = backups::list(path, config.map(|config| config.folder.as_path()));
    let copies = copies.map_err(|error| CommandError::new(error, Exit::Failed))?;
    let mut out = std::io::stdout();
    if copies.is_empty() {
        let _ = match config {
            Some(BackupConfig { folder, .. }) => writeln!(out, "no automatic copies in {} yet", folder.display()),
            None => writeln!(out, "no automatic copies: BACKUP_DIR is not set"),
        };
        let _ = writeln!(out, "copies by `chime backup` are where you put them");
    }
    for ListedCopy { path, made_at, bytes, messages } in copies {
        let messages = messages.map_or_else(|| "unreadable".to_owned(), |count| format!("{count} messages"));
        let (time, size) = (made_at.to_utc().format("%Y-%m-%d %H:%M UTC"), rounded_size(bytes));
        let _ = writeln!(out, "{time}  {size:>8}  {messages:>16}  {}", path.display());
    }
    Ok(Exit::Done)
}

/// Runs `copy` and stops it on SIGTERM or ctrl-c. Waits for its end in both cases, so that a stopped copy can delete
/// its unfinished file.
async fn until_signalled(
    copy: impl FnOnce(&CancellationToken) -> chime_store::Result<Copied> + Send + 'static,
) -> chime_store::Result<Copied> {
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let mut copying = tokio::task::spawn_blocking(move || copy(&stopped));
    if let (Ok(mut terminate), Ok(mut interrupt)) = signals {
        tokio::select! {
            copied = &mut copying => return copied.map_err(|_| StoreError::Panicked)?,
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        stop.cancel();
    }
    copying.await.map_err(|_| StoreError::Panicked)?
}

fn tell(what: &str, Copied { path, bytes, version }: &Copied) -> CommandResult {
    let (path, size) = (path.display(), rounded_size(*bytes));
    // Fails if the reader closed the pipe, which is not an error.
    let _ = writeln!(std::io::stdout(), "{what} {path}: {size}, version {version}, checked");
    Ok(Exit::Done)
}
