//! Schedule of the periodic jobs.

use std::time::Duration;

use super::JobPayload;

/// Delay that lets the start finish and the backlog arrive.
const SOON: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Periodic job. Runs missed while the daemon was down are made up by a single run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub job: JobPayload,
    /// Interval between the starts of two runs.
    pub every: Duration,
    /// Delay from the start of the daemon to the first run.
    pub first_after: Duration,
}

impl Schedule {
    pub fn all() -> Vec<Self> {
        vec![
            Self { job: JobPayload::Sessions {}, every: MINUTE, first_after: SOON },
            Self { job: JobPayload::MemoryUpkeep {}, every: HOUR, first_after: MINUTE },
            Self { job: JobPayload::Vectors {}, every: MINUTE * 10, first_after: MINUTE },
            Self { job: JobPayload::Recaps {}, every: MINUTE, first_after: SOON },
            Self { job: JobPayload::Concepts {}, every: MINUTE * 10, first_after: MINUTE * 10 },
            Self { job: JobPayload::Retention {}, every: HOUR, first_after: MINUTE },
        ]
    }
}
