//! The one place of this room that waits.

use std::future::Future;
use std::time::Duration;

use crate::clock::Clock;

/// Runs `work`, but for no longer than `span` by `clock`. `None`: the time was up, and `work` was dropped.
pub async fn within<F: Future>(clock: &Clock, span: Duration, work: F) -> Option<F::Output> {
    // Fixed before `work` begins: a clock that is moved while it runs counts.
    let until = clock.now().plus(span);
    tokio::select! {
        biased; // Work that is done in the same instant is done.
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
        let hour = Duration::from_secs(3600);
        let (outcome, ()) = tokio::join!(within(&clock, hour, pending::<()>()), async { clock.advance(hour) });
        assert_eq!(outcome, None);
    }
}
