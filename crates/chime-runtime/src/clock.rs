//! The only module that reads the time or sleeps.
//!
//! Decisions take a [`Timestamp`] as an argument, and every wait goes through [`Clock`], so that a test can move time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use chime_core::Timestamp;

/// The system clock counts as set back if it went back by more than this. Smaller steps are corrections by a time
/// service.
pub const SET_BACK_FROM: Duration = Duration::from_secs(5);

/// Source of the current time, and of waits until a time. Cheap to clone; clones share the shift of tests.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Milliseconds by which this clock is ahead of the machine's. Only demos and tests change it; in the daemon it is
    /// zero.
    shift: Arc<AtomicI64>,
    /// Wakes the waits in progress when `shift` changes.
    moved: watch::Sender<()>,
    #[cfg(feature = "testkit")]
    waits: Arc<tokio::sync::Notify>,
}

/// Start of a measurement of a duration. Setting the system clock does not affect it.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Clock {
    pub fn system() -> Self {
        Self {
            shift: Arc::default(),
            moved: watch::Sender::new(()),
            #[cfg(feature = "testkit")]
            waits: Arc::default(),
        }
    }

    /// Returns a clock, for demos and tests, that shows `at` now and runs at normal speed.
    pub fn starting_at(at: Timestamp) -> Self {
        let clock = Self::system();
        clock.shift.store(at.millis().saturating_sub(clock.now().millis()), Ordering::Relaxed);
        clock
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn now(&self) -> Timestamp {
        let machine = chrono::Utc::now().timestamp_millis();
        Timestamp::from_millis(machine.saturating_add(self.shift.load(Ordering::Relaxed)))
    }

    /// Starts a measurement that changes of the system clock do not affect.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Waits until this clock shows `until`. The wait is never longer than the time from now to `until`, even if the
    /// system clock is set back meanwhile. If it is set forward past `until`, the wait ends within a minute.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
    pub async fn sleep_until(&self, until: Timestamp) {
        const RECHECK: Duration = Duration::from_mins(1);
        #[cfg(feature = "testkit")]
        self.waits.notify_waiters();
        let mut moved = self.moved.subscribe();
        let (watch, span) = (self.stopwatch(), until.since(self.now()));
        loop {
            let left = until.since(self.now()).min(span.saturating_sub(watch.elapsed()));
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(left.min(RECHECK)) => {}
                _ = moved.changed() => {}
            }
        }
    }

    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now().plus(span)).await;
    }

    /// Sets this clock back by `span`. Waits in progress do not get longer.
    #[cfg(feature = "testkit")]
    pub fn set_back(&self, span: Duration) {
        self.shift.fetch_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.moved.send_replace(());
    }

    /// Sets this clock forward by `span`, and ends the waits whose time has come.
    pub fn advance(&self, span: Duration) {
        self.shift.fetch_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.moved.send_replace(());
    }

    /// Returns a future that completes when any task calls [`sleep_until`](Self::sleep_until) after this call: from
    /// then on, that task has nothing to do until a test moves the time.
    #[cfg(feature = "testkit")]
    pub fn next_wait(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.waits).notified_owned()
    }
}

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn elapsed(self) -> Duration {
        Instant::now().saturating_duration_since(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_clock_that_is_set_back_makes_no_wait_longer() {
        const DAY: Duration = Duration::from_hours(24);
        let clock = Clock::system();
        let before = clock.now();
        let wait = Duration::from_millis(20);
        tokio::join!(clock.sleep(wait), async { clock.set_back(DAY) });
        assert!(clock.now() < before);
    }
}
