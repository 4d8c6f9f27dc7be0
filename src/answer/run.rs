//! Drives answers: reads, asks the model, writes down, sends.

mod ask;
mod budget;
mod deliver;
mod draft;
mod guard;
mod log;
mod reply;

pub use ask::{Answering, AnsweringParts};
pub use budget::Budget;
pub use deliver::Delivery;
pub use guard::{GuardState, ModelGuard};
pub use reply::{format_own, format_parts, write_reply};
