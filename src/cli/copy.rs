//! `chime backup` and `chime restore`: copy the database to a new file and check the copy. They never overwrite a file.

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::cli::arguments::{BackupOptions, RestoreOptions};
use crate::cli::database;
use crate::cli::exit::{Exit, report};
use chime_core::config::format_size;
use chime_runtime::clock::Clock;
use chime_store::{Copied, StoreError};

pub async fn back_up(options: BackupOptions) -> Exit {
    let from = match database::path() {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    let to = if options.dest.is_dir() {
        let now = Clock::system().now().to_utc();
        options.dest.join(now.format("chime-%Y%m%d-%H%M%S.db").to_string())
    } else {
        options.dest
    };
    tell("copied the database to", until_signalled(move |stop| chime_store::back_up(&from, &to, stop)).await)
}

pub async fn restore(options: RestoreOptions) -> Exit {
    let to = match database::path() {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    tell("restored the database to", until_signalled(move |stop| chime_store::restore(&options.src, &to, stop)).await)
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

fn tell(what: &str, copied: chime_store::Result<Copied>) -> Exit {
    match copied {
        Ok(Copied { path, bytes, version }) => {
            let (path, size) = (path.display(), format_size(bytes));
            // Fails if the reader closed the pipe, which is not an error.
            let _ = writeln!(std::io::stdout(), "{what} {path}: {size}, version {version}, checked");
            Exit::Done
        }
        Err(error) => report(&error, Exit::of_store(&error)),
    }
}
