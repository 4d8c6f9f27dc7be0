//! Errors of model calls. Each variant tells the caller what to do.

use std::time::Duration;

use chime_core::RefusalReason;
use chime_llm::{Check, LlmError, Recovery};

/// Failed model call. The message is safe to log.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No model is configured: answer without one.
    #[error("no model is configured")]
    Offline,
    /// A daily token budget is used up: try again tomorrow (UTC), or answer without a model.
    #[error("the budget `{}` is used up", .0.as_str())]
    OverBudget(RefusalReason),
    /// The circuit breaker blocks calls after repeated failures: retry after this time. `refusal` is what an operator
    /// has to check if the server refused the last call.
    #[error("the model keeps failing and was not asked")]
    BreakerOpen { retry_after: Duration, refusal: Option<Check> },
    /// A background call was cancelled, or not started, because the server is needed for answers: retry after this
    /// time.
    #[error("the model server is needed for answers")]
    GaveWay { retry_after: Duration },
    /// The call failed for now: the same prompt may succeed later.
    #[error(transparent)]
    RetryLater(LlmError),
    /// The prompt does not fit into the model's context: a shorter one may succeed at once.
    #[error("the prompt is too long for the model")]
    TooLong,
    /// The call failed permanently: the same prompt will fail again.
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

    /// Returns a label without spaces for logs and metrics.
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

    /// Returns the time after which the same call may succeed, or `None` if repeating it today is useless.
    pub fn retry_after(&self) -> Option<Duration> {
        /// Delay that is used if the error names none.
        const A_WHILE: Duration = Duration::from_mins(1);
        match self {
            Self::BreakerOpen { retry_after, .. } | Self::GaveWay { retry_after } => Some(*retry_after),
            Self::RetryLater(error) => match error.recovery() {
                Recovery::RetryLater(after) => Some(after.unwrap_or(A_WHILE)),
                Recovery::ShrinkPrompt | Recovery::GiveUp => Some(A_WHILE),
            },
            Self::Store(_) => Some(A_WHILE),
            Self::Offline | Self::OverBudget(_) | Self::TooLong | Self::Final(_) => None,
        }
    }
}
