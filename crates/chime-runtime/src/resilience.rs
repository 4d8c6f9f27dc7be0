//! Retry delays, delays between polls, circuit breakers and deadlines.
//!
//! Only [`within`] waits. The others are pure functions, which get the time as an argument. Call [`RetryPolicy::delay`]
//! after a failed call, and [`Breakers`] before and after each call.

mod backoff;
mod breaker;
mod deadline;

pub use backoff::{Backoff, RetryPolicy, doubled, exponential};
pub use breaker::{Breaker, Breakers, CallOutcome};
pub use deadline::within;

/// Returns a random number, good enough to spread retries, but not for secrets.
pub fn random() -> u64 {
    fastrand::u64(..)
}
