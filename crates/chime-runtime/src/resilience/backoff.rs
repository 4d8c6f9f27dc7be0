//! Delays before retries.

use std::time::Duration;

/// Limits and delays for the retries of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    pub max_retries: u32,
    /// First delay, before it is varied at random. Doubles with every retry.
    pub base: Duration,
    /// Upper limit of every delay, even if the server asks for a longer one.
    pub cap: Duration,
}

impl RetryPolicy {
    /// Returns the delay before the next attempt, or `None` when the retries are used up.
    ///
    /// `attempt` counts the retries already made. Without `retry_after` the delay is exponential, and half of it is
    /// random. With `retry_after`, the time that the server asked for, a random part of `base` is added, so that
    /// callers with the same `retry_after` do not all return at once. No delay is longer than `cap`.
    pub fn delay(&self, attempt: u32, retry_after: Option<Duration>, random: u64) -> Option<Duration> {
        if attempt >= self.max_retries {
            return None;
        }
        let delay = match retry_after {
            Some(asked) => asked.saturating_add(self.base.mul_f64(fraction(random))),
            None => exponential(self.base, self.cap, attempt, random),
        };
        Some(delay.min(self.cap))
    }
}

/// Delays of a loop that never gives up, such as polling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    /// First delay. It is short, because most failures end quickly.
    const BASE: Duration = Duration::from_millis(250);
    /// Longest delay, and so the longest time until the end of an outage is noticed.
    const CAP: Duration = Duration::from_secs(15);

    /// Counts a failure and returns the delay before the next attempt.
    pub fn failed(&mut self, random: u64) -> Duration {
        let delay = exponential(Self::BASE, Self::CAP, self.failures, random);
        self.failures = self.failures.saturating_add(1);
        delay
    }

    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    pub fn failures(&self) -> u32 {
        self.failures
    }
}

/// Doubles `base` `doublings` times, up to `cap`.
pub fn doubled(base: Duration, cap: Duration, doublings: u32) -> Duration {
    2_u32.checked_pow(doublings).and_then(|factor| base.checked_mul(factor)).map_or(cap, |delay| delay.min(cap))
}

/// Returns a random duration between half of [`doubled`] and all of it.
pub fn exponential(base: Duration, cap: Duration, doublings: u32, random: u64) -> Duration {
    let half = doubled(base, cap, doublings) / 2;
    half + half.mul_f64(fraction(random))
}

/// Maps `seed` to a number from 0 up to, but not including, 1.
fn fraction(seed: u64) -> f64 {
    fastrand::Rng::with_seed(seed).f64()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const POLICY: RetryPolicy =
        RetryPolicy { max_retries: 2, base: Duration::from_millis(500), cap: Duration::from_secs(15) };

    #[track_caller]
    fn check(attempt: u32, retry_after: Option<u64>, expected_ms: Option<(u64, u64)>) {
        for random in 0..200 {
            let delay = POLICY.delay(attempt, retry_after.map(Duration::from_secs), random);
            let within = match (delay, expected_ms) {
                (Some(delay), Some((from, to))) => (from..=to).contains(&(delay.as_millis() as u64)),
                (delay, expected) => delay.is_none() && expected.is_none(),
            };
            assert!(within, "attempt {attempt}, random {random}: {delay:?} is not {expected_ms:?}");
        }
    }

    #[test]
    fn delays_double_and_end_after_two_retries() {
        check(0, None, Some((250, 500)));
        check(1, None, Some((500, 1000)));
        check(2, None, None);
        check(u32::MAX, Some(1), None);
    }

    #[test]
    fn the_server_is_never_asked_earlier_than_it_said() {
        check(0, Some(3), Some((3000, 3500)));
        check(1, Some(0), Some((0, 500)));
    }

    #[test]
    fn an_excessive_retry_after_is_capped() {
        check(0, Some(600), Some((15_000, 15_000)));
        check(0, Some(u64::MAX), Some((15_000, 15_000)));
    }

    #[test]
    fn polling_backs_off_without_end_and_starts_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let delays: Vec<Duration> = (0..100).map(|random| backoff.failed(random)).collect();
        assert!((125..=250).contains(&delays[0].as_millis()), "{:?}", delays[0]);
        assert!((250..=500).contains(&delays[1].as_millis()), "{:?}", delays[1]);
        assert!(delays[10..].iter().all(|d| (7_500..=15_000).contains(&d.as_millis())), "{delays:?}");
        assert_eq!(backoff.failures(), 100);
        backoff.succeeded();
        assert!(backoff.failed(0) <= Duration::from_millis(250));
    }

    proptest! {
        #[test]
        fn no_delay_is_over_the_cap(attempt: u32, after: Option<u64>, random: u64, base: u32, cap: u32) {
            let policy = RetryPolicy {
                max_retries: u32::MAX,
                base: Duration::from_millis(base.into()),
                cap: Duration::from_millis(cap.into()),
            };
            if let Some(delay) = policy.delay(attempt, after.map(Duration::from_millis), random) {
                prop_assert!(delay <= policy.cap);
            }
        }
    }
}
