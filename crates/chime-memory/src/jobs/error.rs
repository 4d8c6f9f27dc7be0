//! Errors of the steps of a memory job.

use std::time::Duration;

use chime_access::gateway::AskError;
use chime_core::Job;
use chime_jobs::JobError;
use chime_llm::LlmError;
use chime_store::StoreError;

/// Number of attempts with unusable output after which the model is not asked again.
const WORTHWHILE: u32 = 3;
/// Delay before the next attempt if the daily tokens are used up.
const BUDGET_AGAIN: Duration = Duration::from_hours(1);

#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model call failed. The text contains nothing from messages.
    #[error("{0}")]
    Model(String),
    /// The model's output is unusable, perhaps because of the messages in the prompt. The text contains nothing from
    /// messages.
    #[error("{0}")]
    Unusable(String),
    /// The model is not available now; the next attempt should wait this long.
    #[error("{1}")]
    Later(Duration, String),
    #[error(transparent)]
    Prompt(#[from] chime_core::prompts::PromptError),
}

impl StepError {
    /// Converts the error of a model call.
    pub fn of_ask(error: &AskError) -> Self {
        match error {
            AskError::TooLong
            | AskError::RetryLater(
                LlmError::Empty | LlmError::Noise | LlmError::OnlyThoughts | LlmError::NoRoom | LlmError::Filtered,
            ) => Self::Unusable(error.to_string()),
            AskError::Final(cause) if cause.is_about_the_request() => Self::Unusable(error.to_string()),
            AskError::BreakerOpen { retry_after, .. } | AskError::GaveWay { retry_after } => {
                Self::Later(*retry_after, error.to_string())
            }
            AskError::OverBudget(_) => Self::Later(BUDGET_AGAIN, error.to_string()),
            AskError::Offline | AskError::RetryLater(_) | AskError::Final(_) | AskError::Store(_) => {
                Self::Model(error.to_string())
            }
        }
    }
}

impl From<StepError> for JobError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Store(error) => error.into(),
            StepError::Later(pause, why) => {
                tracing::info!(why, "a job waits for the model");
                Self::Later(pause)
            }
            error => Self::Failed(error.to_string()),
        }
    }
}

/// Returns `true` if this attempt is the last one, so unusable output should be replaced by an extract.
pub(super) fn is_given_up(job: &Job) -> bool {
    job.attempts + 1 >= WORTHWHILE
}
