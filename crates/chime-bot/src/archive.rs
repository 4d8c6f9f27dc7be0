//! History from before the bot, out of a Telegram Desktop export; and a chat's own data, as JSON.
//!
//! *Owns*: how an export is read, what becomes of its messages, what an export of ours holds.
//! *Never*: decides who may be kept (that is `privacy` and `store::consent`); talks to Telegram.
//! *Entry*: [`import::open`], [`import::import`], [`import::export`].

mod accounts;
mod content;
mod convert;
mod happened;
pub mod import;
mod tally;
mod text;
mod topics;

pub use convert::{Conversion, ExportedChat, Unusable};
pub use tally::{ChatTally, Tally};
pub use topics::TopicHints;
