//! Schedule of the periodic jobs.

use std::time::Duration;

use super::JobPayload;

/// Delay for the first runs, so that the program has started and waiting updates have arrived.
const SOON: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Job that is repeated at intervals. If several runs were missed while the program was not running, only one is made
/// up for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    pub job: JobPayload,
    /// Interval between the starts of two runs.
    pub every: Duration,
    /// Delay from the start of the program to the first run.
    pub first_after: Duration,
}

impl Schedule {
    pub fn all() -> Vec<Self> {
        vec![
            Self { job: JobPayload::Sessions {}, every: MINUTE, first_after: SOON },
            Self { job: JobPayload::MemoryUpkeep {}, every: HOUR, first_after: MINUTE },
            Self { job: JobPayload::Vectors {}, every: MINUTE * 10, first_after: MINUTE },
            Self { job: JobPayload::Reminders {}, every: MINUTE / 3, first_after: SOON },
            Self { job: JobPayload::Recaps {}, every: MINUTE, first_after: SOON },
            Self { job: JobPayload::Concepts {}, every: MINUTE * 10, first_after: MINUTE * 10 },
            Self { job: JobPayload::Retention {}, every: HOUR, first_after: MINUTE },
        ]
    }
}
