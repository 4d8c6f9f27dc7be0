//! When periodic work runs.

use std::time::Duration;

use super::JobPayload;

/// When the start is over and the backlog is in.
const SOON: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Work that comes again and again. What was missed while the daemon was down is run once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub job: JobPayload,
    /// Between the beginnings of two runs.
    pub every: Duration,
    /// From a start of the daemon to the first run.
    pub first_after: Duration,
}

impl Schedule {
    /// All periodic work, a line each.
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
