//! The poll loop: fetches updates, commits them, and only then fetches the next ones.

mod admission;
mod album;
mod apply;
mod batch;
mod begin;
mod door;
mod keep;
mod language;
mod poll;
mod read;
mod remember;
mod settings;
mod split_ask;

pub use poll::{Ingest, PollEnd, PollHealth, PollTrouble, TroubleKind};
pub use settings::IntakeSettings;
