//! Polls Telegram: fetches a batch of updates, commits it, and only then fetches the next one.

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
