//! Exit codes of the program, and its error output.

use std::error::Error;
use std::io::Write;
use std::process::{ExitCode, Termination};

use crate::app::AppError;
use chime_bot::archive::import::{ExportError, ImportError};
use chime_core::config::ConfigError;
use chime_store::StoreError;

/// Result of a command. Service managers depend on the exit codes, so they must not change.
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

    fn of(error: &(dyn Error + 'static)) -> Self {
        if let Some(error) = error.downcast_ref::<AppError>() {
            return Self::of_app(error);
        }
        let in_archive = match (error.downcast_ref::<ImportError>(), error.downcast_ref::<ExportError>()) {
            (Some(ImportError::Store(error)), _) => Some(error),
            (_, Some(ExportError::Store(error @ StoreError::Absent { .. }))) => Some(error),
            _ => None,
        };
        match error.downcast_ref::<StoreError>().or(in_archive) {
            Some(error) => Self::of_store(error),
            None if error.is::<ConfigError>() => Self::Configuration,
            None => Self::Failed,
        }
    }

    pub fn of_store(error: &StoreError) -> Self {
        match error {
            StoreError::AlreadyRunning { .. } => Self::AlreadyRunning,
            // These errors may be gone at the next start, for example if space was freed, so the service manager should
            // restart the daemon.
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

pub type CommandResult = Result<Exit, CommandError>;

#[derive(Debug)]
pub struct CommandError {
    error: Box<dyn Error>,
    exit: Exit,
}

impl CommandError {
    pub fn new(error: impl Into<Box<dyn Error>>, exit: Exit) -> Self {
        Self { error: error.into(), exit }
    }

    /// Prints the error with its causes to stderr. Returns the exit code.
    pub fn report(&self) -> Exit {
        report(self.error.as_ref(), self.exit)
    }
}

impl<E: Error + 'static> From<E> for CommandError {
    fn from(error: E) -> Self {
        let exit = Exit::of(&error);
        Self::new(error, exit)
    }
}

impl Termination for Exit {
    fn report(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// Prints an error with its causes to stderr. Returns `exit`.
pub fn report(error: &dyn Error, exit: Exit) -> Exit {
    // Fails if stderr is closed, and then there is nowhere to report it.
    let _ = writeln!(std::io::stderr(), "chime: {}", with_causes(error).join("\n  because: "));
    exit
}

/// Returns the texts of an error and its causes. If one contains another, as with
/// SQLite, only the longer one is returned.
fn with_causes(error: &dyn Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        match texts.last_mut() {
            Some(last) if last.ends_with(&text) => {}
            Some(last) if text.ends_with(last.as_str()) => *last = text,
            _ => texts.push(text),
        }
        cause = error.source();
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Failed {
        text: String,
        source: Option<Box<Failed>>,
    }

    #[test]
    fn causes_that_say_the_same_are_reported_once() {
        let chain = |texts: &[&str]| {
            let wrap = |source, text: &&str| Some(Box::new(Failed { text: (*text).to_owned(), source }));
            with_causes(&texts.iter().rev().fold(None, wrap).expect("an error")).join(" / ")
        };
        let sql = ["a statement failed", "disk I/O error", "Error code 4874: disk I/O error"];
        assert_eq!(chain(&sql), "a statement failed / Error code 4874: disk I/O error");
        assert_eq!(chain(&["x cannot be read: no such file", "no such file"]), "x cannot be read: no such file");
    }
}
