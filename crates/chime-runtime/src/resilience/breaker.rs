//! Circuit breakers: block calls to a service that keeps failing, then probe it.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use chime_core::Timestamp;

/// Number of failures in a row that open a breaker.
const THRESHOLD: usize = 5;
/// Failures longer ago than this no longer count: five failures spread over a week do not open a breaker.
const WINDOW: Duration = Duration::from_secs(120);
/// Time for which an open breaker blocks all calls before it admits one probe.
const COOL_DOWN: Duration = Duration::from_secs(30);
/// A probe without an outcome for this time counts as lost, and another is admitted.
const PROBE_PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Breaker {
    /// Admits all calls. Holds the failures since the last success, oldest first.
    Closed { failures: Vec<Timestamp> },
    /// Blocks all calls before `until`.
    Open { until: Timestamp },
    /// Blocks all calls until the outcome of one probe is known.
    HalfOpen { probe_sent: Timestamp },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallOutcome {
    Succeeded,
    Failed,
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: Vec::new() }
    }
}

impl Breaker {
    /// Decides if a call may be made. After `Ok` the caller must report the outcome with [`settle`](Self::settle), or
    /// call [`withdraw`](Self::withdraw) if it makes no call.
    ///
    /// # Errors
    /// Returns the time for which calls are still blocked.
    pub fn admit(&mut self, now: Timestamp) -> Result<(), Duration> {
        // If the remaining time is longer than the whole time, the clock was set back. The real remaining time is
        // unknown, so the call is admitted as the probe.
        let is_blocked = |until: Timestamp, span| now < until && until.since(now) <= span;
        match *self {
            Self::Closed { .. } => return Ok(()),
            Self::Open { until } if is_blocked(until, COOL_DOWN) => return Err(until.since(now)),
            Self::HalfOpen { probe_sent } if is_blocked(probe_sent.plus(PROBE_PATIENCE), PROBE_PATIENCE) => {
                return Err(probe_sent.plus(PROBE_PATIENCE).since(now));
            }
            Self::Open { .. } | Self::HalfOpen { .. } => {}
        }
        *self = Self::HalfOpen { probe_sent: now };
        Ok(())
    }

    /// Applies the outcome of a call. A success closes the breaker in any state, even if the call began before the
    /// breaker opened.
    pub fn settle(&mut self, outcome: CallOutcome, now: Timestamp) {
        match (&mut *self, outcome) {
            (_, CallOutcome::Succeeded) => *self = Self::default(),
            (Self::Closed { failures }, CallOutcome::Failed) => {
                failures.retain(|failed_at| now.since(*failed_at) <= WINDOW);
                failures.push(now);
                if failures.len() >= THRESHOLD {
                    *self = Self::opened(now);
                }
            }
            // The call began before the breaker opened, so its failure must not keep the breaker open for longer.
            (Self::Open { .. }, CallOutcome::Failed) => {}
            (Self::HalfOpen { .. }, CallOutcome::Failed) => *self = Self::opened(now),
        }
    }

    /// Returns how long calls are still blocked, or `None` if one would be admitted. Changes nothing.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        self.clone().admit(now).err()
    }

    /// Moves the earlier failures later by the duration of a call, so that this time does not count towards `WINDOW`.
    /// If a server does not respond, calls fail one by one, minutes apart, and must still count as failures in a row.
    pub fn leave_out_time_of_call(&mut self, took: Duration, now: Timestamp) {
        if let Self::Closed { failures } = self {
            failures.iter_mut().for_each(|at| *at = at.plus(took).min(now));
        }
    }

    /// Takes back an admission whose call was not made or has no outcome. If it was the probe, the next call
    /// can be.
    pub fn withdraw(&mut self, now: Timestamp) {
        if let Self::HalfOpen { .. } = self {
            *self = Self::Open { until: now };
        }
    }

    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    fn opened(now: Timestamp) -> Self {
        Self::Open { until: now.plus(COOL_DOWN) }
    }
}

/// One breaker per key, such as a conversation. Remembers only keys with failures since their last success, at most
/// `capacity`: beyond that, the one used least recently is forgotten.
#[derive(Debug)]
pub struct Breakers<K> {
    kept: HashMap<K, BreakerEntry>,
    capacity: usize,
}

#[derive(Debug)]
struct BreakerEntry {
    breaker: Breaker,
    touched: Timestamp,
}

impl<K: Eq + Hash + Clone> Breakers<K> {
    pub fn new(capacity: usize) -> Self {
        Self { kept: HashMap::new(), capacity }
    }

    pub fn admit(&mut self, key: &K, now: Timestamp) -> Result<(), Duration> {
        self.change(key, now, |breaker| breaker.admit(now))
    }

    pub fn settle(&mut self, key: &K, outcome: CallOutcome, now: Timestamp) {
        self.change(key, now, |breaker| breaker.settle(outcome, now));
    }

    pub fn withdraw(&mut self, key: &K, now: Timestamp) {
        self.change(key, now, |breaker| breaker.withdraw(now));
    }

    /// Returns the number of breakers that are open or half-open.
    pub fn open_count(&self) -> usize {
        self.kept.values().filter(|kept| !kept.breaker.is_closed()).count()
    }

    fn change<T>(&mut self, key: &K, now: Timestamp, change: impl FnOnce(&mut Breaker) -> T) -> T {
        let mut breaker = self.kept.remove(key).map(|kept| kept.breaker).unwrap_or_default();
        let result = change(&mut breaker);
        if breaker != Breaker::default() {
            if self.kept.len() >= self.capacity {
                self.forget_stalest();
            }
            self.kept.insert(key.clone(), BreakerEntry { breaker, touched: now });
        }
        result
    }

    fn forget_stalest(&mut self) {
        let stalest = self.kept.iter().min_by_key(|(_, kept)| kept.touched).map(|(key, _)| key.clone());
        if let Some(key) = stalest {
            self.kept.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// Each line of a script is one second: `ask`, `ok` or `fail`.
    #[track_caller]
    fn check(script: &str, expected: Expect) {
        let mut breaker = Breaker::default();
        let mut seen = String::new();
        for step in script.split(',').map(str::trim) {
            let (secs, event) = step.split_once(' ').expect("a second and an event");
            let now = at(secs.parse().expect("seconds"));
            let mut admission = Ok(());
            match event {
                "ask" => admission = breaker.admit(now),
                "ok" => breaker.settle(CallOutcome::Succeeded, now),
                "fail" => breaker.settle(CallOutcome::Failed, now),
                other => panic!("no such event: {other}"),
            }
            let state = match &breaker {
                Breaker::Closed { failures } => format!("closed, {} failures", failures.len()),
                Breaker::Open { until } => format!("open until {}", until.secs()),
                Breaker::HalfOpen { probe_sent } => format!("half-open, probe sent at {}", probe_sent.secs()),
            };
            let refused = match admission {
                Ok(()) => String::new(),
                Err(span) => format!(", wait {}", span.as_secs()),
            };
            seen.push_str(&format!("{step}: {state}{refused}\n"));
        }
        expected.assert_eq(&seen);
    }

    #[test]
    fn five_failures_in_a_row_open_it_and_a_good_probe_closes_it() {
        check(
            "0 fail, 1 fail, 2 fail, 3 fail, 4 fail, 5 ask, 33 ask, 34 ask, 35 ask, 36 ok, 37 ask",
            expect![[r#"
                0 fail: closed, 1 failures
                1 fail: closed, 2 failures
                2 fail: closed, 3 failures
                3 fail: closed, 4 failures
                4 fail: open until 34
                5 ask: open until 34, wait 29
                33 ask: open until 34, wait 1
                34 ask: half-open, probe sent at 34
                35 ask: half-open, probe sent at 34, wait 119
                36 ok: closed, 0 failures
                37 ask: closed, 0 failures
            "#]],
        );
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        check(
            "0 fail, 1 fail, 2 fail, 3 fail, 4 ok, 5 fail",
            expect![[r#"
                0 fail: closed, 1 failures
                1 fail: closed, 2 failures
                2 fail: closed, 3 failures
                3 fail: closed, 4 failures
                4 ok: closed, 0 failures
                5 fail: closed, 1 failures
            "#]],
        );
    }

    #[test]
    fn failures_far_apart_do_not_add_up() {
        check(
            "0 fail, 40 fail, 80 fail, 120 fail, 121 fail, 160 fail, 161 fail",
            expect![[r#"
                0 fail: closed, 1 failures
                40 fail: closed, 2 failures
                80 fail: closed, 3 failures
                120 fail: closed, 4 failures
                121 fail: closed, 4 failures
                160 fail: open until 190
                161 fail: open until 190
            "#]],
        );
    }

    #[test]
    fn a_bad_probe_opens_it_again_and_a_lost_one_is_followed_by_another() {
        check(
            "0 fail, 0 fail, 0 fail, 0 fail, 0 fail, 30 ask, 31 fail, 60 ask, 61 ask, 180 ask, 181 ask",
            expect![[r#"
                0 fail: closed, 1 failures
                0 fail: closed, 2 failures
                0 fail: closed, 3 failures
                0 fail: closed, 4 failures
                0 fail: open until 30
                30 ask: half-open, probe sent at 30
                31 fail: open until 61
                60 ask: open until 61, wait 1
                61 ask: half-open, probe sent at 61
                180 ask: half-open, probe sent at 61, wait 1
                181 ask: half-open, probe sent at 181
            "#]],
        );
    }

    #[test]
    fn one_conversation_that_fails_leaves_the_others_alone() {
        let mut breakers = Breakers::new(8);
        for secs in 0..5 {
            assert_eq!(breakers.admit(&"bad", at(secs)), Ok(()));
            breakers.settle(&"bad", CallOutcome::Failed, at(secs));
        }
        assert_eq!(breakers.admit(&"bad", at(5)), Err(Duration::from_secs(29)));
        assert_eq!(breakers.admit(&"good", at(5)), Ok(()));
        assert_eq!(breakers.open_count(), 1);
    }

    #[test]
    fn only_the_failing_are_remembered_and_the_stalest_is_forgotten_first() {
        let mut breakers = Breakers::new(2);
        for key in 0..100 {
            assert!(breakers.admit(&key, at(0)).is_ok());
            breakers.settle(&key, CallOutcome::Succeeded, at(0));
        }
        assert!(breakers.kept.is_empty());
        for (secs, key) in [(1, 1), (2, 2), (3, 1), (4, 3)] {
            breakers.settle(&key, CallOutcome::Failed, at(secs));
        }
        let mut keys: Vec<i32> = breakers.kept.keys().copied().collect();
        keys.sort_unstable();
        assert_eq!(keys, [1, 3]);
    }
}
