//! Reasons for ending a demo early, with their exit codes.

use crate::app::AppError;
use crate::cli::demo::kept::KeptError;
use crate::cli::exit::{Exit, report};

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error(transparent)]
    App(#[from] AppError),
    #[error(transparent)]
    Config(#[from] chime_core::config::ConfigError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] chime_store::StoreError),
    #[error(transparent)]
    Kept(#[from] KeptError),
}

impl DemoError {
    /// Prints the error to stderr and returns the exit code.
    pub fn report(&self) -> Exit {
        match self {
            Self::App(error) => report(error, Exit::of_app(error)),
            Self::Config(error) => report(error, Exit::Configuration),
            Self::Store(error) | Self::Kept(KeptError::Store(error)) => report(error, Exit::of_store(error)),
            Self::Io(_) | Self::Kept(KeptError::OfBot { .. }) => report(self, Exit::Failed),
        }
    }
}
