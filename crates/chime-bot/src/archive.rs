//! Imports chat history from a Telegram Desktop export, and exports the stored data of a chat as JSON.
//!
//! Start at [`import::open`], [`import::import`] and [`import::export`]. `chime-privacy`, and
//! `consent` in `chime-store`, decide whether a message may be stored. Nothing here talks to Telegram.

mod accounts;
mod content;
mod convert;
pub mod import;
mod service_messages;
mod tally;
mod text;
mod topics;

pub use convert::{Conversion, ExportedChat, Unusable};
pub use tally::{ChatTally, Tally};
pub use topics::TopicHints;
