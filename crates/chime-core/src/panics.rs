//! Code of others that may panic on what members write.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives; none where it panics. For calls into dependencies: a word that one of them chokes on must not cost
/// the message. `work` must leave nothing half-changed behind.
pub fn unless_it_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
