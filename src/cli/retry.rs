//! `chime retry`: retries parked jobs, also while the daemon runs.

use std::io::Write;

use crate::cli::arguments::{Retried, RetryOptions};
use crate::cli::database;
use crate::cli::exit::{CommandError, CommandResult, Exit};
use chime_runtime::clock::Clock;
use chime_store::{amend, jobs};

pub fn run(options: &RetryOptions) -> CommandResult {
    let (which, now) = (options.job.id(), Clock::system().now());
    let count = amend(&database::path()?, |tx| jobs::unpark(tx, which, now))?;
    if count == 0 && options.job != Retried::All {
        return Err(CommandError::new("no such job is parked; chime check names those that are", Exit::Failed));
    }
    let _ = writeln!(std::io::stdout(), "{count} jobs will be tried again; a running daemon starts within 30 s");
    Ok(Exit::Done)
}
