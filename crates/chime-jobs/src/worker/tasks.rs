//! Jobs that the pool is running.

use std::collections::HashMap;

use tokio::task::{Id, JoinSet};

use crate::{JobOutcome, RunningJobs};
use chime_core::{Job, Timestamp};

/// Running jobs and the tasks that run them.
#[derive(Default)]
pub struct JobTasks {
    pub handles: JoinSet<JobOutcome>,
    /// Job of each task, with its start time.
    pub jobs: HashMap<Id, (Job, Timestamp)>,
    pub running: RunningJobs,
    /// Time at which the pool was started.
    pub started_at: Option<Timestamp>,
}

impl JobTasks {
    /// Returns `true` if an earlier process may have crashed because of this job: it was tried before, or it was due
    /// before the pool started. Such a job is marked as started before it begins.
    pub fn is_suspect(&self, job: &Job) -> bool {
        job.attempts > 0 || Some(job.due_at) <= self.started_at
    }
}
