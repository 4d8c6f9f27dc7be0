//! Drives answers: reads, asks the model, writes down, sends.

mod ask;
mod budget;
mod deliver;
mod draft;
mod gone;
mod introduction;
mod log;
mod press;
mod question;
mod reply;

pub use ask::{Answering, AnsweringParts};
pub use deliver::Delivery;
pub use introduction::Introduction;
pub use reply::{format_own, format_parts};
