//! Takes in updates: stores each update as rows and jobs, in one transaction.
//!
//! Start at [`intake::Ingest`]. `plan.rs` decides which job a message starts. An update that cannot be read is never
//! dropped: it is parked, which means stored with its error.

pub mod intake;
mod plan;

pub use plan::{ArrivalKind, ArrivedMessage, TriggerAction, task_for};
