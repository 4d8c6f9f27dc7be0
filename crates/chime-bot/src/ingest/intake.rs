//! The poll loop: fetches updates, commits them, and only then fetches the next ones.

mod admission;
mod album;
mod apply;
mod authorize;
mod batch;
mod consent_filter;
mod enqueue;
mod language;
mod memory_jobs;
mod poll;
mod read;
mod settings;
mod split_question;

pub use poll::{Ingest, PollEnd, PollHealth, PollTrouble, TroubleKind};
pub use settings::IntakeSettings;
