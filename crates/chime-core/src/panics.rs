//! Protection against panics in dependencies that process members' text.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and returns its result, or `None` if it panics. Used for calls into dependencies, so that one bad word
/// cannot lose a message. `work` must not leave data half-changed.
pub fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
