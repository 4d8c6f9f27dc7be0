//! The only reader of the time.
//!
//! Everything that decides takes a [`Timestamp`]; everything that waits waits here, so that a test can move time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use chime_core::Timestamp;

/// From here on a wall clock was set back; less is the ordinary work of a time service.
pub const SET_BACK_FROM: Duration = Duration::from_secs(5);

/// Reads the wall clock and waits by it. Cheap to clone; clones share one time.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Milliseconds between this clock and the machine's. Always zero in the daemon.
    shift: Arc<AtomicI64>,
    moved: watch::Sender<()>,
    #[cfg(feature = "testkit")]
    waits: Arc<tokio::sync::Notify>,
}

/// A moment on the monotonic clock, for measuring how long something took.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

/// Notices that the wall clock was set back, by holding it against the monotonic one.
#[derive(Debug)]
pub struct SetBackWatch {
    seen: Timestamp,
    since: Stopwatch,
}

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        Self {
            shift: Arc::default(),
            moved: watch::Sender::new(()),
            #[cfg(feature = "testkit")]
            waits: Arc::default(),
        }
    }

    /// A clock that shows `at` now and runs on from there, for worlds of our own.
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

    /// Starts measuring. Not touched by clock jumps.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// Waits until this clock shows `until`, and no longer than that is from now: a wall clock that is set back makes no wait
    /// longer. One that is set forward is noticed within a minute.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
    pub async fn sleep_until(&self, until: Timestamp) {
        const RECHECK: Duration = Duration::from_secs(60);
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

    /// Waits for `span`.
    pub async fn sleep(&self, span: Duration) {
        self.sleep_until(self.now().plus(span)).await;
    }

    /// Begins to watch for the wall clock being set back.
    pub fn watch_set_back(&self) -> SetBackWatch {
        SetBackWatch { seen: self.now(), since: self.stopwatch() }
    }

    /// Sets this clock back. Waits under way take as long as they would have.
    #[cfg(feature = "testkit")]
    pub fn set_back(&self, span: Duration) {
        self.shift.fetch_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.moved.send_replace(());
    }

    /// Moves this clock forward: whoever waits for a moment that is now past wakes up.
    pub fn advance(&self, span: Duration) {
        self.shift.fetch_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.moved.send_replace(());
    }

    /// Ends when somebody begins to wait after this call: whoever worked has nothing left to do.
    #[cfg(feature = "testkit")]
    pub fn next_wait(&self) -> tokio::sync::futures::OwnedNotified {
        Arc::clone(&self.waits).notified_owned()
    }
}

impl SetBackWatch {
    /// By how much the wall clock was set back since this was last asked, if it was.
    pub fn look(&mut self, clock: &Clock) -> Option<Duration> {
        let by = self.behind(clock);
        *self = clock.watch_set_back();
        (by > SET_BACK_FROM).then_some(by)
    }

    /// Whether [`Self::look`] would tell of it.
    pub fn has_noticed(&self, clock: &Clock) -> bool {
        self.behind(clock) > SET_BACK_FROM
    }

    fn behind(&self, clock: &Clock) -> Duration {
        self.seen.plus(self.since.elapsed()).since(clock.now())
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
        const DAY: Duration = Duration::from_secs(24 * 60 * 60);
        let clock = Clock::system();
        let mut watch = clock.watch_set_back();
        let wait = Duration::from_millis(20);
        tokio::join!(clock.sleep(wait), async { clock.set_back(DAY) });
        let by = watch.look(&clock).expect("it is noticed");
        assert!(by.abs_diff(DAY) <= Duration::from_secs(1), "timestamps are of whole milliseconds: {by:?}");
        assert_eq!(watch.look(&clock), None, "and told once");
    }
}
