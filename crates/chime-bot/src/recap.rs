//! Recaps: what was said in a period, in a few points with links.
//!
//! Start at [`RecapArguments::parse`] for the command and at [`worker::Recaps`] for the work. The points themselves are
//! made by `memory`.

mod request;
mod schedule;
pub mod wording;
pub mod worker;

pub use request::{RecapArguments, last_seen};
pub use schedule::RecapTime;
