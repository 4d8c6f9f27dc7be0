//! Drives answers: reads, asks the model, writes down, sends.

mod ask;
mod budget;
mod capture;
mod concepts;
mod deliver;
mod draft;
mod enrich;
mod follow_up;
mod gone;
mod introduction;
mod log;
mod press;
mod question;
mod reading;
mod record;
mod reply;
mod tooling;

pub use ask::{Answering, AnsweringParts};
pub use capture::Capturing;
pub use deliver::Delivery;
pub use enrich::{Enricher, Subject};
pub use introduction::Introduction;
pub use question::asked;
pub use reply::{format_own, format_parts};
