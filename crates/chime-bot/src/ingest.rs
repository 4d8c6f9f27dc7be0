//! From update to row to job, in one committed transaction.
//!
//! *Owns*: polling and its recovery, what is stored of an update, which trigger becomes which job.
//! *Never*: calls a model; answers; forgets an update that it cannot read (it is parked).
//! *Entry*: [`intake::Ingest`]; what to do with a trigger is decided in `plan.rs`.

pub mod intake;
mod plan;

pub use plan::{Came, Said, Task, task_for};
