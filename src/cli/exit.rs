//! Exit codes and error output.

use std::error::Error;
use std::io::Write;
use std::process::{ExitCode, Termination};

use crate::app::AppError;
use chime_store::StoreError;

/// Result of a command. The codes are part of the interface to service managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    CheckFailed,
    DatabaseUnusable,
    AlreadyRunning,
    Configuration,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::CheckFailed => 69,
            Self::DatabaseUnusable => 74,
            Self::AlreadyRunning => 75,
            Self::Configuration => 78,
        }
    }

    pub fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::AlreadyRunning { .. } => Self::AlreadyRunning,
            // A later start may find free space and an unlocked file, so the service manager should retry.
            StoreError::Full(_) | StoreError::Busy(_) => Self::Failed,
            StoreError::Closed | StoreError::Panicked | StoreError::Interrupted | StoreError::Occupied { .. } => {
                Self::Failed
            }
            _ => Self::DatabaseUnusable,
        }
    }

    pub fn of_app(error: &AppError) -> Self {
        match error {
            AppError::Store(error) => Self::of_store(error),
            AppError::Prompts(_) | AppError::TokenRefused | AppError::Embedding(_) => Self::Configuration,
            AppError::StoppedEarly => Self::Done,
            AppError::Http(_) | AppError::Address { .. } | AppError::Task(_) => Self::Failed,
        }
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// Prints an error and its causes to stderr.
pub fn report(error: &dyn Error, exit: Exit) -> Exit {
    let mut text = format!("chime: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("\n  because: {error}"));
        cause = error.source();
    }
    // If stderr is closed, the error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr(), "{text}");
    exit
}
