//! Errors of model calls, one variant for each reaction of the caller.

use std::time::Duration;

use chime_core::Because;
use chime_llm::{LlmError, Recovery};

/// Failed model call. The message is safe to log.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No model is configured: answer without one.
    #[error("no model is configured")]
    Offline,
    /// The day's tokens are used up: wait until tomorrow, or answer without a model.
    #[error("the budget `{}` is used up", .0.as_str())]
    OverBudget(Because),
    /// The breaker is open after repeated failures: retry after this time.
    #[error("the model keeps failing and was not asked")]
    BreakerOpen { retry_after: Duration },
    /// Background work was cancelled or held back for an answer: retry after this time.
    #[error("the model server is needed for answers")]
    GaveWay { retry_after: Duration },
    /// The same prompt may succeed later.
    #[error(transparent)]
    RetryLater(LlmError),
    /// A shorter prompt may succeed at once.
    #[error("the prompt is too long for the model")]
    TooLong,
    /// The same prompt will fail again.
    #[error(transparent)]
    Final(LlmError),
    /// The budget or the usage table could not be read or written.
    #[error(transparent)]
    Store(#[from] chime_store::StoreError),
}

impl AskError {
    pub fn of_model(error: LlmError) -> Self {
        match error.recovery() {
            Recovery::ShrinkPrompt => Self::TooLong,
            Recovery::RetryLater(_) => Self::RetryLater(error),
            Recovery::GiveUp => Self::Final(error),
        }
    }

    /// Returns a one-word label for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::OverBudget(_) => "over_budget",
            Self::BreakerOpen { .. } => "breaker_open",
            Self::GaveWay { .. } => "gave_way",
            Self::RetryLater(error) | Self::Final(error) => error.kind(),
            Self::TooLong => "prompt_too_long",
            Self::Store(_) => "store",
        }
    }

    /// Returns the wait before the same call may succeed, or `None` if it cannot.
    pub fn retry_after(&self) -> Option<Duration> {
        /// Default if the server names no time.
        const A_WHILE: Duration = Duration::from_secs(60);
        match self {
            Self::BreakerOpen { retry_after } | Self::GaveWay { retry_after } => Some(*retry_after),
            Self::RetryLater(error) => match error.recovery() {
                Recovery::RetryLater(after) => Some(after.unwrap_or(A_WHILE)),
                Recovery::ShrinkPrompt | Recovery::GiveUp => Some(A_WHILE),
            },
            Self::Store(_) => Some(A_WHILE),
            Self::Offline | Self::OverBudget(_) | Self::TooLong | Self::Final(_) => None,
        }
    }
}
