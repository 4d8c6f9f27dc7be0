//! Protection against panics in dependencies that process members' text.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and returns its result, or `None` if it panics. Used for calls into dependencies, so that text on which
/// a dependency panics does not stop the handling of a message. `work` must not change data that is used after a panic.
pub fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
