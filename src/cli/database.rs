//! Reads the path of the database, for commands that need hardly any other setting.

use std::path::PathBuf;

use crate::cli::exit::{Exit, report};
use chime_core::Zone;
use chime_core::config::{Environment, Noted, Settings, StoreConfig, TimeConfig};

/// Returns `DATABASE_PATH`. An error has already been printed; its exit code is returned.
pub fn path() -> Result<PathBuf, Exit> {
    Ok(store()?.path)
}

/// Returns the paths of the database and its backups. An error has already been printed; its exit code is returned.
pub fn store() -> Result<StoreConfig, Exit> {
    read(StoreConfig::load)
}

/// Returns `DATABASE_PATH` and `TIME_ZONE`. An error has already been printed; its exit code is returned.
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
