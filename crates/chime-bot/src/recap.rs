//! Recaps: summaries of what was said in a period, as a few points with links to messages.
//!
//! Start at [`RecapArguments::parse`] for the command and at [`worker::Recaps`] for the jobs. The points are written by
//! `chime-memory`.

use std::time::Duration;

mod request;
mod schedule;
pub mod wording;
pub mod worker;

pub use request::{LONGEST, RecapArguments, RecapQuestion};
pub use schedule::RecapTime;

/// Telegram gives the times of messages in whole seconds.
pub const A_SECOND: Duration = Duration::from_secs(1);
