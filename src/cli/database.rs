//! Loads the database path for commands that need little else of the configuration.

use std::path::PathBuf;

use crate::cli::exit::{Exit, report};
use chime_core::Zone;
use chime_core::config::{Environment, Noted, Settings, StoreConfig, TimeConfig};

/// Returns `DATABASE_PATH`. An error is already reported and comes as the exit code.
pub fn path() -> Result<PathBuf, Exit> {
    read(|settings| Ok(StoreConfig::load(settings)?.path))
}

/// Returns `DATABASE_PATH` and `TIME_ZONE`.
pub fn path_and_zone() -> Result<(PathBuf, Zone), Exit> {
    read(|settings| {
        let (store, time) = (StoreConfig::load(settings), TimeConfig::load(settings));
        Ok((store?.path, time?.zone))
    })
}

fn read<T>(load: impl FnOnce(&Settings<'_>) -> Result<T, Noted>) -> Result<T, Exit> {
    let folder = std::env::current_dir().map_err(|error| report(&error, Exit::Failed))?;
    let environment = Environment::read(&folder);
    let settings = environment.settings();
    settings.finish(load(&settings)).map(|(value, _)| value).map_err(|error| report(&error, Exit::Configuration))
}
