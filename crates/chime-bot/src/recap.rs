//! Recaps: what was said in a stretch of time, in few points with links.
//!
//! *Owns*: which stretch a `/recap` asks for, when a chat's own recaps are due, what a recap looks like.
//! *Never*: makes the points (that is `memory`); SQL.
//! *Entry*: [`Request::parse`] for the command, [`worker::Recaps`] for the work.

mod request;
mod schedule;
pub mod wording;
pub mod worker;

pub use request::{Request, last_seen};
pub use schedule::RecapTime;
