//! Jobs that the pool is running.

use std::collections::HashMap;

use tokio::task::{Id, JoinSet};

use crate::{JobResult, RunningJobs};
use chime_core::{Job, Timestamp};

#[derive(Default)]
pub struct JobTasks {
    pub handles: JoinSet<JobResult>,
    /// Job of each task, with its start time.
    pub jobs: HashMap<Id, (Job, Timestamp)>,
    pub running: RunningJobs,
}
