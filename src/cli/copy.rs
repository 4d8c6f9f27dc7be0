//! `chime backup` and `chime restore`: verified copies that overwrite nothing.

use std::io::Write;

use crate::cli::arguments::{BackupOptions, RestoreOptions};
use crate::cli::exit::{Exit, report};
use crate::cli::place;
use crate::clock::Clock;
use crate::config::format_size;
use crate::store::{self, Copied};

pub fn back_up(options: BackupOptions) -> Exit {
    let from = match place::database() {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    let to = if options.dest.is_dir() {
        let now = Clock::system().now().to_utc();
        options.dest.join(now.format("chime-%Y%m%d-%H%M%S.db").to_string())
    } else {
        options.dest
    };
    tell("copied the database to", store::back_up(&from, &to))
}

pub fn restore(options: &RestoreOptions) -> Exit {
    let to = match place::database() {
        Ok(path) => path,
        Err(exit) => return exit,
    };
    tell("restored the database to", store::restore(&options.src, &to))
}

fn tell(what: &str, copied: store::Result<Copied>) -> Exit {
    match copied {
        Ok(Copied { path, bytes, version }) => {
            let (path, size) = (path.display(), format_size(bytes));
            // A reader that went away is no fault.
            let _ = writeln!(std::io::stdout(), "{what} {path}: {size}, version {version}, checked");
            Exit::Done
        }
        Err(error) => report(&error, Exit::of_store(&error)),
    }
}
