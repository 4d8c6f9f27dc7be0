//! Reads the path of the database, for commands that need hardly any other setting.

use std::path::PathBuf;

use crate::cli::exit::CommandError;
use chime_core::Zone;
use chime_core::config::{Environment, Settings, StoreConfig, TimeConfig};

/// Reads the environment and the file `.env` in the current folder.
pub fn environment() -> std::io::Result<Environment> {
    Ok(Environment::read(&std::env::current_dir()?))
}

pub fn path() -> Result<PathBuf, CommandError> {
    Ok(store()?.path)
}

pub fn store() -> Result<StoreConfig, CommandError> {
    read(StoreConfig::load)
}

pub fn path_and_zone() -> Result<(PathBuf, Zone), CommandError> {
    read(|settings| (StoreConfig::load(settings).path, TimeConfig::load(settings).zone))
}

fn read<T>(load: impl FnOnce(&Settings<'_>) -> T) -> Result<T, CommandError> {
    let environment = environment()?;
    let settings = environment.settings();
    Ok(settings.finish(load(&settings))?.0)
}
