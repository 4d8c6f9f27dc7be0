//! Why a model did not answer, by what the caller can do about it.

use std::time::Duration;

use chime_core::Because;
use chime_llm::{LlmError, Recovery};

/// A question that got no answer. Its text is safe to log.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// No model is configured: make do without one.
    #[error("no model is configured")]
    Offline,
    /// The day's tokens are used up: wait for tomorrow, or make do without.
    #[error("the budget `{}` is used up", .0.as_str())]
    OverBudget(Because),
    /// The model kept failing lately, so that it was not asked: the same question may succeed after this time.
    #[error("the model keeps failing and was not asked")]
    BreakerOpen { retry_after: Duration },
    /// Background work that stood in the way of answers: the same question may be asked after this time.
    #[error("the model server is needed for answers")]
    GaveWay { retry_after: Duration },
    /// The same question may succeed later.
    #[error(transparent)]
    RetryLater(LlmError),
    /// A shorter question may succeed at once.
    #[error("the prompt is too long for the model")]
    TooLong,
    /// The same question will fail again.
    #[error(transparent)]
    Final(LlmError),
    /// Budget or ledger could not be read or written.
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

    /// One word for logs and counts.
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

    /// How long to wait before the same question is worth asking again. None: it is not.
    pub fn retry_after(&self) -> Option<Duration> {
        /// Where the server names no time of its own.
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
