//! Result of one attempt at a job, as its handler reports it.

use std::fmt::Display;

use chime_core::Timestamp;
use chime_store::StoreError;

/// Result of one attempt at a job, as its handler reports it.
#[derive(Debug)]
pub enum JobOutcome {
    /// Success. The transaction that stored the result has also marked the job done.
    Finished,
    /// End of one run of a periodic job. It is due again at its next regular time, even if this run failed.
    UntilNextRun,
    /// Nothing to do before the given time. The attempt is not counted.
    WaitUntil(Timestamp),
    /// Failure, to be retried at a time that the handler chose. The text must not contain message content.
    RetryAt(Timestamp, String),
    /// Failure that will pass, such as a full disk or a lost network. Retried until it has passed; the attempt is not
    /// counted.
    Hindered(String),
    /// Failure that is retried up to the limit of the job's kind. The text must not contain message content.
    Failed(String),
    /// Damaged database file: no job can run, and the pool stops.
    Unusable(StoreError),
}

impl JobOutcome {
    /// Converts a store error that occurred while `doing` something. A damaged file is `Unusable`, an error that will
    /// pass is `Hindered`, any other is `Failed`.
    pub fn of_store(error: &StoreError, doing: impl Display) -> Self {
        let told = format!("{doing}: {error}");
        match error {
            error if error.is_damage() => Self::Unusable(error.same_class()),
            error if error.is_passing() => Self::Hindered(told),
            _ => Self::Failed(told),
        }
    }
}
