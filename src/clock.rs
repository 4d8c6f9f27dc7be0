//! The only reader of the time.
//!
//! Everything that decides takes a [`Timestamp`]; everything that waits waits here, so that a test can move time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::domain::Timestamp;

/// Reads the wall clock and waits by it. Cheap to clone; clones share one time.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Milliseconds between this clock and the machine's. Always zero outside tests.
    shift: Arc<AtomicI64>,
    moved: watch::Sender<()>,
    #[cfg(feature = "testkit")]
    waits: Arc<tokio::sync::Notify>,
}

/// A moment on the monotonic clock, for measuring how long something took.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

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

    /// Waits until this clock shows `until`. A wall clock that is set back or forward is noticed within a minute.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that sleeps")]
    pub async fn sleep_until(&self, until: Timestamp) {
        const RECHECK: Duration = Duration::from_secs(60);
        #[cfg(feature = "testkit")]
        self.waits.notify_waiters();
        let mut moved = self.moved.subscribe();
        loop {
            let left = until.since(self.now());
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

    /// Moves this clock forward: whoever waits for a moment that is now past wakes up.
    #[cfg(feature = "testkit")]
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

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the time")]
    pub fn elapsed(self) -> Duration {
        Instant::now().saturating_duration_since(self.0)
    }
}
