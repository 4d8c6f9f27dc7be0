//! Worker pool for the jobs table.
//!
//! The table is the source of truth. The pool reads due jobs, starts them in order, retries failures and parks jobs
//! that keep failing; the caller passes in the function that does the work. Start at [`worker::Pool`]; `policy.rs`
//! holds the decisions.

mod outcome;
mod policy;
pub mod worker;

pub use outcome::JobOutcome;
pub use policy::{
    RetryDecision, RunningJobs, Startable, after_failure, by_clock_of, most_per_lane, next_run, startable,
};
