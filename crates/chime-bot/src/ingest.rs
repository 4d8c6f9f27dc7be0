//! Takes in updates: an update becomes rows and jobs in one committed transaction.
//!
//! Start at [`intake::Ingest`]; `plan.rs` decides what to do with a trigger. An update that cannot be read is parked,
//! never dropped.

pub mod intake;
mod plan;

pub use plan::{ArrivedMessage, Came, TriggerAction, task_for};
