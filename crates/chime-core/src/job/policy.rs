//! Policies of job kinds: how many may run at once, how often a job is retried, how long its row is kept.

use std::time::Duration;

/// A job is parked, that is, not run again, after this many crashes of the process during the job, because it may cause
/// them.
const CRASHES: u32 = 8;
pub(super) const MINUTE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub class: Class,
    /// Number of jobs of this kind that may run at once in one lane (chat), so that one chat cannot block the others.
    pub per_lane: usize,
    /// Number of jobs of this kind that may run at once in all lanes together.
    pub places: usize,
    /// Number of failed attempts after which the job is given up.
    pub attempts: u32,
    /// Pause after the first failure, which doubles with each further failure, and the longest pause.
    pub pauses: (Duration, Duration),
    /// `true` if the job is dropped when the bot is removed from its chat.
    pub ends_with_chat: bool,
    /// Time to keep the row of a finished job. Until then, no new job with the same key is accepted.
    pub row_kept: Duration,
    /// Interval between the starts of two runs; `None` if the job runs once. If several runs were missed while the
    /// program was not running, only one is made up for.
    pub every: Option<Duration>,
    /// Delay from the start of the program to the first run of a periodic job, so that the program has started and
    /// waiting updates have arrived.
    pub first_after: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A member waits for the result.
    Answering,
    /// Nobody waits for it. Such jobs start at a limited rate, and never while an `Answering` job is ready to run.
    Background,
}

impl Policy {
    /// Returns the number of failed attempts that one crash during the job counts as.
    pub fn charge_of_crash(&self) -> u32 {
        self.attempts.div_ceil(CRASHES)
    }

    /// For replies to members. Such jobs mostly wait for a server, so many may run at once.
    pub const ANSWERING: Self = Self {
        class: Class::Answering,
        per_lane: 16,
        places: 128,
        attempts: 8,
        pauses: (Duration::from_millis(500), MINUTE),
        ends_with_chat: true,
        row_kept: Duration::from_hours(30 * 24),
        every: None,
        first_after: Duration::from_secs(1),
    };
    /// For background work, one job of a kind at a time in each chat. The attempts are spread over about a day, so that
    /// an outage of the model does not end the job.
    pub const BACKGROUND: Self = Self {
        class: Class::Background,
        per_lane: 1,
        places: 2,
        attempts: 30,
        pauses: (Duration::from_secs(30), Duration::from_hours(1)),
        row_kept: Duration::from_hours(24),
        ..Self::ANSWERING
    };

    /// Returns the policy for work that is repeated at intervals.
    pub const fn periodic(every: Duration) -> Self {
        Self { ends_with_chat: false, every: Some(every), ..Self::BACKGROUND }
    }

    pub fn is_periodic(&self) -> bool {
        self.every.is_some()
    }
}
