//! Worker pool for the jobs table.
//!
//! The table is the only record of work to do. The pool reads due jobs, starts them in order, retries jobs that failed
//! and parks jobs that keep failing. The caller passes the function that does the work. Start at [`worker::Pool`]; the
//! decisions are in `policy.rs`.

mod base;
mod outcome;
mod policy;
pub mod worker;

pub use base::Base;
pub use outcome::{JobError, JobOutcome, JobResult};
pub use policy::{
    RetryDecision, RunningJobs, Startable, after_failure, by_clock_of, most_per_lane, next_run, startable,
};
