//! How we behave when others fail: how long to wait, when to stop asking, when to stop waiting.
//!
//! *Owns*: retry delays, poll backoff, circuit breakers: pure decisions. One async wrapper, [`within`].
//! *Never*: knows Telegram or a model, or reads a clock to decide.
//! *Entry*: [`RetryPolicy::delay`] after a failed call; [`Breakers`] before and after it.

mod backoff;
mod breaker;
mod deadline;
mod random;

pub use backoff::{Backoff, RetryPolicy};
pub use breaker::{Admission, Breaker, Breakers, Outcome};
pub use deadline::within;
pub use random::{jitter, random};
