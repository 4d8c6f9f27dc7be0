//! Where the database is, for commands that need nothing else of the configuration.

use std::path::PathBuf;

use crate::cli::exit::{Exit, report};
use crate::config::{Environment, StoreConfig};

/// `DATABASE_PATH`, or how to end when it cannot be had: that was reported.
pub fn database() -> Result<PathBuf, Exit> {
    let folder = std::env::current_dir().map_err(|error| report(&error, Exit::Failed))?;
    let environment = Environment::read(&folder);
    let settings = environment.settings();
    match settings.finish(StoreConfig::load(&settings)) {
        Ok((StoreConfig { path }, _)) => Ok(path),
        Err(error) => Err(report(&error, Exit::Configuration)),
    }
}
