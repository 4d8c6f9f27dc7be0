//! Reasons why a demo ends early, with their exit codes.

use crate::app::AppError;
use crate::cli::demo::saved_chat::SavedChatError;
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
    SavedChat(#[from] SavedChatError),
}

impl DemoError {
    /// Prints the reason to stderr. Returns the exit code.
    pub fn report(&self) -> Exit {
        match self {
            Self::App(error) => report(error, Exit::of_app(error)),
            Self::Config(error) => report(error, Exit::Configuration),
            Self::Store(error) | Self::SavedChat(SavedChatError::Store(error)) => report(error, Exit::of_store(error)),
            Self::Io(_) | Self::SavedChat(SavedChatError::OfBot { .. }) => report(self, Exit::Failed),
        }
    }
}
