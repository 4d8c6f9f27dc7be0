//! Retry delays, delays between polls, circuit breakers and deadlines.
//!
//! Only [`within`] waits. The others are pure functions, which get the time as an argument. Call [`RetryPolicy::delay`]
//! after a failed call, and [`Breakers`] before and after each call.

mod backoff;
mod breaker;
mod deadline;
mod random;

pub use backoff::{Backoff, RetryPolicy};
pub use breaker::{Admission, Breaker, Breakers, CallOutcome};
pub use deadline::within;
pub use random::{jitter, random};
