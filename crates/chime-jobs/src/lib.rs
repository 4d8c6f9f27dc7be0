//! Durable work: the job table is the truth, this room finds what is due and sees that it ends.
//!
//! *Owns*: which due job starts next, how often a failing one is tried, when it is put aside, waking up.
//! *Never*: knows what a job does; that is handed in.
//! *Entry*: [`worker::Pool`]; decisions are in `policy.rs`.

mod policy;
pub mod worker;

pub use policy::{Running, Startable, Verdict, after_failure, by_clock_of, most_per_lane, next_run, startable};
