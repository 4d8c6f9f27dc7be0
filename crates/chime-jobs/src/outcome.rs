//! Result of one attempt at a job.

use std::fmt::Display;

use chime_core::Timestamp;
use chime_store::StoreError;

/// Result of one attempt at a job.
#[derive(Debug)]
pub enum JobOutcome {
    /// Finished in the transaction that stored its result.
    Finished,
    /// Ended until the next periodic run.
    UntilNextRun,
    /// Waits until a known time; the attempt is not counted.
    WaitUntil(Timestamp),
    /// Failed; the job itself decided when to retry. The text holds no message content.
    RetryAt(Timestamp, String),
    /// Transient failure, such as a full disk or a lost network: retried for as long as it lasts.
    Hindered(String),
    /// Failed; retried up to a limit. The text holds no message content.
    Failed(String),
    /// Damaged database file: the pool stops.
    Unusable(StoreError),
}

impl JobOutcome {
    /// Classifies a store error that occurred while `doing`.
    pub fn of_store(error: &StoreError, doing: impl Display) -> Self {
        let told = format!("{doing}: {error}");
        match error {
            error if error.is_damage() => Self::Unusable(error.same_class()),
            error if error.is_passing() => Self::Hindered(told),
            _ => Self::Failed(told),
        }
    }
}
