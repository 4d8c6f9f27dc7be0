//! `chime retry`: retries parked jobs, also while the daemon runs.

use std::io::Write;

use crate::cli::arguments::{Retried, RetryOptions};
use crate::cli::database;
use crate::cli::exit::{Exit, report};
use chime_runtime::clock::Clock;
use chime_store::{amend, jobs};

#[derive(Debug, thiserror::Error)]
#[error("no such job is parked; chime check names those that are")]
struct NotParked;

pub fn run(options: &RetryOptions) -> Exit {
    let path = match database::path() {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    let (which, now) = (options.job.id(), Clock::system().now());
    match amend(&path, |tx| jobs::unpark(tx, which, now)) {
        Ok(0) if options.job != Retried::All => report(&NotParked, Exit::Failed),
        Ok(count) => {
            let _ =
                writeln!(std::io::stdout(), "{count} jobs will be tried again; a running daemon starts within 30 s");
            Exit::Done
        }
        Err(error) => report(&error, Exit::of_store(&error)),
    }
}
