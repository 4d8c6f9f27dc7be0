//! Policies: concurrency, retries and lifetime of the jobs of a kind.

use std::time::Duration;

/// Number of crashes during a job after which it is parked, because the job itself may cause them.
const CRASHES: u32 = 8;
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Limits of a kind of jobs: concurrency, attempts and lifetime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub class: Class,
    /// Jobs of this kind that may run at once in one lane, so that a hung model in one chat cannot block the others.
    pub per_lane: usize,
    /// Jobs of this kind that may run at once.
    pub places: usize,
    pub attempts: u32,
    /// Pause after the first failure, doubled after each further failure, and the longest pause.
    pub pauses: (Duration, Duration),
    /// `true` if the job is dropped when the bot is removed from its chat.
    pub ends_with_chat: bool,
    /// Time to keep the row of a finished job. Until then the same key is not run again.
    pub row_kept: Duration,
    /// Time of marking the job as running in the table. A crash after that is charged to the job.
    pub marked: Marked,
    /// `true` if the job is scheduled again after each run.
    pub is_periodic: bool,
}

/// Urgency of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A member waits for the result.
    Answering,
    /// Nobody waits. Such jobs start at a limited rate, and never while an answering job waits to run.
    Background,
}

/// Time at which a job is marked as running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// At its start, for jobs that usually take long.
    AtOnce,
    /// After it has run for a while. Most jobs end sooner and need no extra commit.
    Later,
}

impl Policy {
    /// Returns the number of attempts that a crash during the job counts for.
    pub fn charge_of_crash(&self) -> u32 {
        self.attempts.div_ceil(CRASHES)
    }

    /// Replies to members. Such jobs mostly wait for a remote server, so many may run at once.
    pub const ANSWERING: Self = Self {
        class: Class::Answering,
        per_lane: 16,
        places: 128,
        attempts: 8,
        pauses: (Duration::from_millis(500), MINUTE),
        ends_with_chat: true,
        row_kept: DAY.saturating_mul(30),
        marked: Marked::Later,
        is_periodic: false,
    };
    /// Replies that need a model.
    pub const ASKING: Self = Self { marked: Marked::AtOnce, ..Self::ANSWERING };
    /// Background work, one job at a time in a chat. All attempts together span about a day, to outlast a model's
    /// outage.
    pub const BACKGROUND: Self = Self {
        class: Class::Background,
        per_lane: 1,
        places: 2,
        attempts: 30,
        pauses: (Duration::from_secs(30), MINUTE.saturating_mul(60)),
        row_kept: DAY,
        ..Self::ANSWERING
    };

    /// Scheduled work; see [`Schedule`](super::Schedule).
    pub const PERIODIC: Self = Self { ends_with_chat: false, is_periodic: true, ..Self::BACKGROUND };
}
