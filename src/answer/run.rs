//! Drives answers: reads, asks the model, writes down, sends.

mod ask;
mod deliver;
mod reply;

pub use ask::{Answering, AnsweringParts};
pub use deliver::Delivery;
pub use reply::{format_own, format_parts, write_reply};
