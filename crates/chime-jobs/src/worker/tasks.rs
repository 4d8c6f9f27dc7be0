//! Bookkeeping of the running jobs.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::task::{Id, JoinSet};

use crate::{JobOutcome, RunningJobs};
use chime_core::{Job, JobId, Timestamp};

/// Running jobs and their tasks.
#[derive(Default)]
pub struct JobTasks {
    pub handles: JoinSet<JobOutcome>,
    /// Each job with its start time.
    pub jobs: HashMap<Id, (Job, Timestamp)>,
    pub running: RunningJobs,
    /// Running jobs that are not yet marked in the table, with the time to mark them, soonest first.
    pub unmarked: VecDeque<(Timestamp, JobId)>,
    /// Start time of the pool.
    pub started_at: Option<Timestamp>,
}

impl JobTasks {
    /// Adjusts all times after the system clock was set back.
    pub fn set_back(&mut self, by: Duration) {
        self.running.forget_pace();
        self.started_at = self.started_at.map(|at| at.minus(by));
        for (at, _) in &mut self.unmarked {
            *at = at.minus(by);
        }
    }

    /// Returns `true` if this job may have crashed an earlier process: it is then marked before it starts.
    pub fn is_suspect(&self, job: &Job) -> bool {
        job.attempts > 0 || Some(job.due_at) <= self.started_at
    }
}
