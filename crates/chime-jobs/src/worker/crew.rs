//! Who works on what.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::task::{Id, JoinSet};

use crate::Running;
use crate::worker::Outcome;
use chime_core::{Job, JobId, Timestamp};

/// The jobs under way and the tasks that do them.
#[derive(Default)]
pub struct Crew {
    pub tasks: JoinSet<Outcome>,
    /// With when each began.
    pub jobs: HashMap<Id, (Job, Timestamp)>,
    pub running: Running,
    /// Jobs under way that the table does not know to be, with when it is to be told, soonest first.
    pub unmarked: VecDeque<(Timestamp, JobId)>,
    /// When the daemon started to work.
    pub started_at: Option<Timestamp>,
}

impl Crew {
    /// The wall clock was set back.
    pub fn set_back(&mut self, by: Duration) {
        self.running.forget_pace();
        self.started_at = self.started_at.map(|at| at.minus(by));
        for (at, _) in &mut self.unmarked {
            *at = at.minus(by);
        }
    }

    /// Whether a process may have ended of this job before: such a one is marked before it starts.
    pub fn is_suspect(&self, job: &Job) -> bool {
        job.attempts > 0 || Some(job.due_at) <= self.started_at
    }
}
