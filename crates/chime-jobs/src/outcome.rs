//! Result of one attempt at a job, as its handler reports it.

use std::time::Duration;

use chime_core::Timestamp;
use chime_core::prompts::PromptError;
use chime_store::StoreError;
use tokio::task::JoinError;

pub type JobResult = Result<JobOutcome, JobError>;

/// Result of an attempt that did not fail, and when the job runs next.
#[derive(Debug)]
pub enum JobOutcome {
    /// Success. The transaction that stored the result has also marked the job done.
    Finished,
    /// End of one run of a periodic job. It is due again at its next regular time.
    UntilNextRun,
    /// Nothing to do before the given time. The attempt is not counted.
    WaitUntil(Timestamp),
}

/// Reason why an attempt ended early. The texts must not contain message content.
#[derive(Debug)]
pub enum JobError {
    /// Error of the store: a damaged file stops the pool, a temporary error counts as [`Transient`](Self::Transient),
    /// any other as [`Failed`](Self::Failed).
    Store(StoreError),
    /// A server asks to wait this long. The attempt is not counted.
    Later(Duration),
    /// Failure, to be retried at a time that the handler chose.
    RetryAt(Timestamp, String),
    /// Temporary failure, such as a full disk or a lost network. Retried until it has passed; the attempt is not
    /// counted.
    Transient(String),
    /// Failure that is retried up to the limit of the job's kind. A periodic job runs again at its next regular time.
    Failed(String),
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<PromptError> for JobError {
    fn from(error: PromptError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<JoinError> for JobError {
    /// Leaves out what the panic says, which may quote a message.
    fn from(error: JoinError) -> Self {
        Self::Failed(if error.is_panic() { "panicked" } else { "was cancelled" }.to_owned())
    }
}
