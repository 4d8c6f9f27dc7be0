//! Reads the path of the database, for commands that need hardly any other setting.

use std::path::PathBuf;

use crate::cli::exit::CommandError;
use chime_core::Zone;
use chime_core::config::{Environment, Noted, Settings, StoreConfig, TimeConfig};

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
    read(|settings| {
        let (store, time) = (StoreConfig::load(settings), TimeConfig::load(settings));
        Ok((store?.path, time?.zone))
    })
}

fn read<T>(load: impl FnOnce(&Settings<'_>) -> Result<T, Noted>) -> Result<T, CommandError> {
    let environment = environment()?;
    let settings = environment.settings();
    Ok(settings.finish(load(&settings))?.0)
}
