//! Time limit for a future.

use std::future::Future;
use std::time::Duration;

use crate::clock::Clock;

/// Runs `work` for at most `span`, measured by `clock`. When the time is up, drops `work` and returns `None`.
pub async fn within<F: Future>(clock: &Clock, span: Duration, work: F) -> Option<F::Output> {
    // Computed before `work` starts, so that a test that moves the clock while it runs shortens the time.
    let until = clock.now().plus(span);
    tokio::select! {
        biased; // Prefer the result if both are ready.
        output = work => Some(output),
        () = clock.sleep_until(until) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn finished_work_is_returned_even_without_time() {
        assert_eq!(within(&Clock::system(), Duration::ZERO, ready(7)).await, Some(7));
    }

    #[tokio::test]
    async fn work_that_hangs_ends_with_the_clock() {
        let clock = Clock::system();
        let hour = Duration::from_hours(1);
        let (outcome, ()) = tokio::join!(within(&clock, hour, pending::<()>()), async { clock.advance(hour) });
        assert_eq!(outcome, None);
    }
}
