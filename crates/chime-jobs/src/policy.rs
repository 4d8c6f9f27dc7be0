//! Pure functions that decide which jobs start next and what happens after a failure.

use std::collections::HashMap;
use std::time::Duration;

use chime_core::{Class, Job, JobId, JobKind, Timestamp};
use chime_runtime::resilience::exponential;

/// Maximum number of background jobs that run at the same time, of all kinds together. Low, because the machine may
/// have a single core.
const BACKGROUND_PLACES: usize = 2;
/// Minimum time between the starts of two background jobs. Each periodic kind is timed on its own: it runs at most once
/// a minute, and delaying it for other jobs would delay everything that depends on it.
const BACKGROUND_EVERY: Duration = Duration::from_millis(200);

/// Jobs that are running. They are recorded only in memory, because a single daemon uses the database.
#[derive(Debug, Default)]
pub struct RunningJobs {
    /// Id, kind and lane of each.
    jobs: Vec<(JobId, JobKind, i64)>,
    /// Earliest start of the next background job of each group.
    background_from: HashMap<Pace, Timestamp>,
}

/// Group of background jobs. Between the starts of two jobs of the same group, `BACKGROUND_EVERY` must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Pace {
    Periodic(JobKind),
    Other,
}

impl Pace {
    fn of(kind: JobKind) -> Self {
        if kind.policy().is_periodic() { Self::Periodic(kind) } else { Self::Other }
    }
}

/// Jobs to start now, and the earliest time at which a job that must wait for `BACKGROUND_EVERY` may start.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Startable {
    pub jobs: Vec<Job>,
    pub look_at: Option<Timestamp>,
}

impl RunningJobs {
    pub fn start(&mut self, job: &Job, now: Timestamp) {
        let kind = job.kind();
        self.jobs.push((job.id, kind, job.lane()));
        if kind.policy().class == Class::Background {
            self.background_from.insert(Pace::of(kind), now.plus(BACKGROUND_EVERY));
        }
    }

    pub fn end(&mut self, job: &Job) {
        self.jobs.retain(|(id, ..)| *id != job.id);
    }

    /// Removes the waits between starts of background jobs. After the system clock was set back they would last too
    /// long.
    pub fn forget_pace(&mut self) {
        self.background_from.clear();
    }

    pub fn is_running(&self, id: JobId) -> bool {
        self.jobs.iter().any(|(running, ..)| *running == id)
    }

    fn has_place(&self, job: &Job) -> bool {
        let (kind, lane, policy) = (job.kind(), job.lane(), job.kind().policy());
        self.count(|of, _| of == kind) < policy.places
            && self.count(|of, at| (of, at) == (kind, lane)) < policy.per_lane
    }

    fn count(&self, is_counted: impl Fn(JobKind, i64) -> bool) -> usize {
        self.jobs.iter().filter(|(_, kind, lane)| is_counted(*kind, *lane)).count()
    }
}

/// Returns the largest `per_lane` of all kinds. The pool reads this many jobs per lane.
pub fn most_per_lane() -> usize {
    JobKind::ALL.into_iter().map(|kind| kind.policy().per_lane).max().unwrap_or(1)
}

/// Chooses the due jobs that can start now, in order, and takes a place for each. Between starts of background jobs,
/// some time must pass. No background job starts while an answering job has to wait for a place.
pub fn startable(due: Vec<Job>, running: &mut RunningJobs, now: Timestamp) -> Startable {
    let (answering, background): (Vec<Job>, Vec<Job>) = due
        .into_iter()
        .filter(|job| !running.is_running(job.id))
        .partition(|job| job.kind().policy().class == Class::Answering);
    let mut chosen = Startable::default();
    let mut somebody_waits = false;
    for job in answering {
        if running.has_place(&job) {
            running.start(&job, now);
            chosen.jobs.push(job);
        } else {
            somebody_waits = true;
        }
    }
    if somebody_waits {
        return chosen;
    }
    for job in background {
        if running.count(|kind, _| kind.policy().class == Class::Background) >= BACKGROUND_PLACES {
            break;
        }
        let from = running.background_from.get(&Pace::of(job.kind())).copied().filter(|from| *from > now);
        if from.is_none() && running.has_place(&job) {
            running.start(&job, now);
            chosen.jobs.push(job);
        }
        chosen.look_at = [chosen.look_at, from].into_iter().flatten().min();
    }
    chosen
}

/// Decision about a job after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    RetryAt(Timestamp),
    Park,
}

/// Decides when a failed job is tried again, or parks it after its last attempt. The pause doubles with each attempt.
pub fn after_failure(job: &Job, began: Timestamp, now: Timestamp, random: u64) -> RetryDecision {
    let policy = job.kind().policy();
    if policy.is_periodic() {
        return RetryDecision::RetryAt(next_run(job.kind(), began, now));
    }
    if job.attempts + 1 >= policy.attempts {
        return RetryDecision::Park;
    }
    let (first, longest) = policy.pauses;
    RetryDecision::RetryAt(now.plus(exponential(first, longest, job.attempts, random)))
}

/// Returns the time of the next run of a periodic job whose last run began at `began`. Not before `now`.
pub fn next_run(kind: JobKind, began: Timestamp, now: Timestamp) -> Timestamp {
    let policy = kind.policy();
    policy.every.map_or(now.plus(policy.pauses.1), |every| began.plus(every)).max(now)
}

/// Returns `at`, corrected if the system clock was set back during an attempt (`now` is before `began`). A time that
/// the attempt computed earlier is then too late by `began - now`.
pub fn by_clock_of(now: Timestamp, at: Timestamp, began: Timestamp) -> Timestamp {
    if now < began && at >= began { at.minus(began.since(now)) } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{ChatId, ChatKey, JobPayload, MessageAt, MessageId, Seq, SessionId};

    const NOW: Timestamp = Timestamp::from_secs(100);

    fn with_payload(id: i64, payload: JobPayload) -> Job {
        Job { id: JobId(id), payload, due_at: Timestamp::from_secs(0), attempts: 0 }
    }

    fn answer(id: i64, chat: i64) -> Job {
        let at = MessageAt { chat: ChatId(chat), message: MessageId(id) };
        with_payload(id, JobPayload::Answer { at, parsed: Default::default() })
    }

    fn retention(id: i64) -> Job {
        with_payload(id, JobPayload::Retention {})
    }

    fn start(due: &[Job], running: &mut RunningJobs) -> Vec<i64> {
        startable(due.to_vec(), running, NOW).jobs.iter().map(|job| job.id.0).collect()
    }

    #[test]
    fn a_clock_that_is_set_back_during_an_attempt_puts_nothing_off_for_longer() {
        let [long_ago, soon] = [10, 102].map(Timestamp::from_secs);
        let began = Timestamp::from_secs(5_000);
        assert_eq!(by_clock_of(NOW, Timestamp::from_secs(5_002), began), soon, "worked out by the old clock");
        assert_eq!(by_clock_of(NOW, soon, began), soon, "by the new one");
        assert_eq!(by_clock_of(NOW, soon, long_ago), soon, "nothing was set back");
    }

    #[test]
    fn a_crowded_lane_leaves_places_for_the_others() {
        let places = JobKind::Answer.policy().per_lane as i64;
        let due: Vec<Job> = (1..=places + 1).map(|id| answer(id, 7)).chain([answer(90, 8)]).collect();
        let mut running = RunningJobs::default();
        let started = start(&due, &mut running);
        assert_eq!(started, (1..=places).chain([90]).collect::<Vec<_>>());
        assert_eq!(start(&due, &mut running), [] as [i64; 0], "nothing starts twice");
        running.end(&due[0]);
        assert_eq!(start(&due, &mut running), [1], "a place that is free again is taken");
    }

    #[test]
    fn sending_does_not_wait_for_answering() {
        let places = JobKind::Answer.policy().per_lane as i64;
        let send = JobPayload::Send { reply: "answer:7:1".to_owned(), chat: ChatId(7), made_by: None };
        let due: Vec<Job> = (1..=places).map(|id| answer(id, 7)).chain([with_payload(90, send)]).collect();
        assert_eq!(start(&due, &mut RunningJobs::default()).last(), Some(&90));
    }

    #[test]
    fn background_work_starts_one_at_a_time_and_not_too_fast() {
        let mut running = RunningJobs::default();
        let due = [retention(1), retention(2)];
        let first = startable(due.to_vec(), &mut running, NOW);
        assert_eq!(first.jobs, [retention(1)]);
        assert_eq!(first.look_at, Some(NOW.plus(BACKGROUND_EVERY)));
        let later = NOW.plus(BACKGROUND_EVERY);
        assert_eq!(startable(due.to_vec(), &mut running, later).jobs, [], "one of a lane");
        running.end(&due[0]);
        assert_eq!(startable(due[1..].to_vec(), &mut running, later).jobs, [retention(2)]);
    }

    #[test]
    fn periodic_work_waits_for_no_start_of_another_kind() {
        let summary = |id| {
            let session = SessionId { chat: ChatKey(1), first: Seq(id) };
            with_payload(id.into(), JobPayload::Summary { chat: ChatId(i64::from(id)), session })
        };
        let recaps = with_payload(3, JobPayload::Recaps {});
        let mut running = RunningJobs::default();
        assert_eq!(start(&[summary(1), summary(2), recaps.clone()], &mut running), [1, 3]);
        running.end(&summary(1));
        running.end(&recaps);
        let later = startable(vec![summary(2), retention(4)], &mut running, NOW);
        assert_eq!(later.jobs, [retention(4)]);
        assert_eq!(later.look_at, Some(NOW.plus(BACKGROUND_EVERY)), "the other summary is still too early");
    }

    #[test]
    fn background_work_does_not_start_while_a_member_waits() {
        let places = JobKind::Answer.policy().per_lane as i64;
        let waiting: Vec<Job> = (1..=places + 1).map(|id| answer(id, 7)).collect();
        let due: Vec<Job> = [retention(90)].into_iter().chain(waiting.clone()).collect();
        let mut running = RunningJobs::default();
        assert!(!start(&due, &mut running).contains(&90));
        running.end(&waiting[0]);
        assert!(!start(&due, &mut running).contains(&90), "a place is for the first, not for the second");
        running.end(&waiting[1]);
        let still_due: Vec<Job> = due.into_iter().filter(|job| job.id.0 > 2).collect();
        assert!(start(&still_due, &mut running).contains(&90));
    }

    #[test]
    fn pauses_grow_and_poison_work_ends() {
        let (chat, key) = (ChatId(7), ChatKey(1));
        for mut job in [answer(1, 7), with_payload(2, JobPayload::Recent { chat, key })] {
            let mut last = Duration::ZERO;
            for attempts in 0..job.kind().policy().attempts - 1 {
                job.attempts = attempts;
                let RetryDecision::RetryAt(at) = after_failure(&job, NOW, NOW, 0) else {
                    panic!("attempt {attempts} was the last");
                };
                let (pause, longest) = (at.since(NOW), job.kind().policy().pauses.1);
                assert!(pause > last || pause >= longest / 2, "attempt {attempts}: {pause:?} after {last:?}");
                last = pause;
            }
            job.attempts += 1;
            assert_eq!(after_failure(&job, NOW, NOW, 0), RetryDecision::Park);
        }
    }

    #[test]
    fn periodic_work_comes_again_whatever_happens() {
        let job = Job { attempts: 99, ..retention(1) };
        let hour = Duration::from_hours(1);
        assert_eq!(after_failure(&job, NOW, NOW.plus(hour / 2), 0), RetryDecision::RetryAt(NOW.plus(hour)));
        assert_eq!(next_run(job.kind(), NOW, NOW.plus(hour * 2)), NOW.plus(hour * 2));
    }
}
