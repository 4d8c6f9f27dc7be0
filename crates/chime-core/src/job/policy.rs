//! How the jobs of a kind are treated.

use std::time::Duration;

/// Ends of the process in the middle of a job after which it is parked: it may be what ends it.
const CRASHES: u32 = 8;
const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a job of a kind may take, how often it is tried, and when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub class: Class,
    /// Places for jobs of this kind in one lane. A hung model in one chat leaves places for the others.
    pub per_lane: usize,
    /// Places for all jobs of this kind.
    pub places: usize,
    /// Attempts after which a job is parked.
    pub attempts: u32,
    /// The pause after the first failure, which doubles with each further one, and the longest.
    pub pauses: (Duration, Duration),
    /// Whether a job ends, undone, when the bot is removed from the chat that is its lane.
    pub ends_with_chat: bool,
    /// How long the row of a done job is kept: until then the same key is not worked on again.
    pub row_kept: Duration,
    /// When the table is told that a job is worked on. What ends the process after that is charged to the job.
    pub marked: Marked,
    /// Whether it comes again and again, so that its job never ends.
    pub is_periodic: bool,
}

/// Who waits for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A member waits.
    Answering,
    /// Nobody waits: starts at a bounded rate, and never while an answering job waits for a place.
    Background,
}

/// When a job is marked as being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// When it starts: it takes long in most cases.
    AtOnce,
    /// When it has taken long. Most end sooner, and no commit is spent on them.
    Later,
}

impl Policy {
    /// Attempts that a job is charged when the process ended in the middle of it.
    pub fn charge_of_crash(&self) -> u32 {
        self.attempts.div_ceil(CRASHES)
    }

    /// Answering waits on a remote model nearly all the time, so places are cheap.
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
    /// Work that asks a model while a member waits.
    pub const ASKING: Self = Self { marked: Marked::AtOnce, ..Self::ANSWERING };
    /// Work of one chat is done one job after the other. Its attempts take a day, as an outage of a model may.
    pub const BACKGROUND: Self = Self {
        class: Class::Background,
        per_lane: 1,
        places: 2,
        attempts: 30,
        pauses: (Duration::from_secs(30), MINUTE.saturating_mul(60)),
        row_kept: DAY,
        ..Self::ANSWERING
    };

    /// Work that comes again and again: see the table of schedules.
    pub const PERIODIC: Self = Self { ends_with_chat: false, is_periodic: true, ..Self::BACKGROUND };
}
