//! What starts next and what becomes of a failure: pure.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::domain::{Job, JobId, JobKind, Timestamp};

/// Attempts after which a job is put aside. A job that kills the process counts an attempt at every start, so poison
/// work ends too.
pub const MAX_ATTEMPTS: u32 = 8;
/// The first pause after a failure; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How many jobs may be under way at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of one kind in one lane. A hung model in one chat leaves places for the others.
    pub per_lane: usize,
    /// Of one kind.
    pub per_kind: usize,
}

impl Default for Limits {
    /// Answering waits on a remote model nearly all the time, so places are cheap.
    fn default() -> Self {
        Self { per_lane: 16, per_kind: 128 }
    }
}

/// The jobs under way. Claims live here, in memory: one daemon holds the database.
#[derive(Debug, Default)]
pub struct Running {
    ids: HashSet<JobId>,
    newest: Option<JobId>,
    lanes: HashMap<(JobKind, i64), usize>,
    kinds: HashMap<JobKind, usize>,
}

impl Running {
    pub fn start(&mut self, job: &Job) {
        self.ids.insert(job.id);
        self.newest = self.newest.max(Some(job.id));
        *self.lanes.entry((job.kind, job.lane)).or_default() += 1;
        *self.kinds.entry(job.kind).or_default() += 1;
    }

    pub fn end(&mut self, job: &Job) {
        if !self.ids.remove(&job.id) {
            return;
        }
        if let Some(count) = self.kinds.get_mut(&job.kind) {
            *count -= 1;
        }
        if let Some(count) = self.lanes.get_mut(&(job.kind, job.lane)) {
            *count -= 1;
            if *count == 0 {
                self.lanes.remove(&(job.kind, job.lane));
            }
        }
    }

    /// Whether `job` was surely never started: ids grow, and none as high was. Of any other, only the table knows.
    pub fn is_news(&self, job: &Job) -> bool {
        self.newest < Some(job.id)
    }

    /// Whether some job may be waiting for the place of another.
    pub fn is_crowded(&self, limits: &Limits) -> bool {
        self.lanes.values().any(|count| *count >= limits.per_lane)
            || self.kinds.values().any(|count| *count >= limits.per_kind)
    }

    fn has_place(&self, job: &Job, limits: &Limits) -> bool {
        let in_lane = self.lanes.get(&(job.kind, job.lane)).copied().unwrap_or(0);
        let of_kind = self.kinds.get(&job.kind).copied().unwrap_or(0);
        !self.ids.contains(&job.id) && in_lane < limits.per_lane && of_kind < limits.per_kind
    }
}

/// Claims, in order, the due jobs for which there is a place.
pub fn startable(due: Vec<Job>, running: &mut Running, limits: &Limits) -> Vec<Job> {
    let mut chosen = Vec::new();
    for job in due {
        if running.has_place(&job, limits) {
            running.start(&job);
            chosen.push(job);
        }
    }
    chosen
}

/// What becomes of a job whose attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    RetryAt(Timestamp),
    Park,
}

/// `attempts` began before the one that failed; `random` spreads retries over half of the pause.
pub fn after_failure(attempts: u32, now: Timestamp, random: u64) -> Verdict {
    if attempts + 1 >= MAX_ATTEMPTS {
        return Verdict::Park;
    }
    let pause = FIRST_PAUSE.saturating_mul(1 << attempts.min(16)).min(LONGEST_PAUSE);
    let spread = Duration::from_millis(random % (pause.as_millis() as u64 / 2).max(1));
    Verdict::RetryAt(now.plus(pause / 2 + spread))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(id: i64, kind: JobKind, lane: i64) -> Job {
        Job { id: JobId(id), kind, key: id.to_string(), lane, due_at: Timestamp::from_secs(0), attempts: 0 }
    }

    fn ids(jobs: &[Job]) -> Vec<i64> {
        jobs.iter().map(|job| job.id.0).collect()
    }

    #[test]
    fn a_crowded_lane_leaves_places_for_the_others() {
        let due = vec![
            job(1, JobKind::Answer, 7),
            job(2, JobKind::Answer, 7),
            job(3, JobKind::Answer, 7),
            job(4, JobKind::Answer, 8),
        ];
        let mut running = Running::default();
        let limits = Limits { per_lane: 2, per_kind: 3 };
        assert_eq!(ids(&startable(due.clone(), &mut running, &limits)), [1, 2, 4]);
        assert_eq!(ids(&startable(due.clone(), &mut running, &limits)), [] as [i64; 0], "nothing starts twice");
        running.end(&due[0]);
        assert_eq!(ids(&startable(due, &mut running, &limits)), [1], "a place that is free again is taken");
    }

    #[test]
    fn a_job_is_news_once_and_an_older_one_never() {
        let mut running = Running::default();
        let (older, newer) = (job(1, JobKind::Answer, 7), job(2, JobKind::Answer, 7));
        assert!(running.is_news(&older) && running.is_news(&newer));
        running.start(&newer);
        running.end(&newer);
        assert!(!running.is_news(&newer), "it was worked on");
        assert!(!running.is_news(&older), "it may have been");
    }

    #[test]
    fn a_full_lane_is_crowded_until_a_place_is_free() {
        let mut running = Running::default();
        let limits = Limits { per_lane: 2, per_kind: 3 };
        let jobs = [1, 2, 3].map(|id| job(id, JobKind::Answer, id / 3));
        running.start(&jobs[0]);
        assert!(!running.is_crowded(&limits));
        running.start(&jobs[1]);
        assert!(running.is_crowded(&limits), "the lane is full");
        running.end(&jobs[0]);
        assert!(!running.is_crowded(&limits));
    }

    #[test]
    fn sending_does_not_wait_for_answering() {
        let mut running = Running::default();
        let limits = Limits { per_lane: 1, per_kind: 1 };
        let due = vec![job(1, JobKind::Answer, 7), job(2, JobKind::Send, 7)];
        assert_eq!(ids(&startable(due, &mut running, &limits)), [1, 2]);
    }

    #[test]
    fn pauses_grow_and_poison_work_ends() {
        let now = Timestamp::from_secs(100);
        let mut last = Duration::ZERO;
        for attempts in 0..MAX_ATTEMPTS - 1 {
            let Verdict::RetryAt(at) = after_failure(attempts, now, 0) else {
                panic!("attempt {attempts} was the last");
            };
            assert!(at.since(now) > last && at.since(now) <= LONGEST_PAUSE);
            last = at.since(now);
        }
        assert_eq!(after_failure(MAX_ATTEMPTS - 1, now, 0), Verdict::Park);
    }
}
