//! The poll loop: ask, commit, and only then ask for what follows.

mod admission;
mod apply;
mod door;
mod keep;
mod poll;
mod read;

pub use apply::Setting;
pub use poll::{Ingest, PollEnd, PollHealth, Trouble, TroubleKind};
