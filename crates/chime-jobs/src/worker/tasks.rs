//! Jobs that the pool is running.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::task::{Id, JoinSet};

use crate::{JobOutcome, RunningJobs};
use chime_core::{Job, JobId, Timestamp};

/// Running jobs and the tasks that run them.
#[derive(Default)]
pub struct JobTasks {
    pub handles: JoinSet<JobOutcome>,
    /// Job of each task, with its start time.
    pub jobs: HashMap<Id, (Job, Timestamp)>,
    pub running: RunningJobs,
    /// Running jobs that are not yet marked as started in the table, each with the time at which it must be marked,
    /// earliest first.
    pub unmarked: VecDeque<(Timestamp, JobId)>,
    /// Time at which the pool was started.
    pub started_at: Option<Timestamp>,
}

impl JobTasks {
    /// Moves all times back by `by`, after the system clock was set back by `by`.
    pub fn set_back(&mut self, by: Duration) {
        self.running.forget_pace();
        self.started_at = self.started_at.map(|at| at.minus(by));
        for (at, _) in &mut self.unmarked {
            *at = at.minus(by);
        }
    }

    /// Returns `true` if an earlier process may have crashed because of this job: it was tried before, or it was due
    /// before the pool started. Such a job is marked as started before it begins.
    pub fn is_suspect(&self, job: &Job) -> bool {
        job.attempts > 0 || Some(job.due_at) <= self.started_at
    }
}
