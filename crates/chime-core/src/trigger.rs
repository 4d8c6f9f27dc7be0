//! Detection of messages that address the bot, and extraction of the question.
//!
//! Start with [`find`] for one message. [`author_run`] returns the author's messages just before it, and
//! [`Languages::shipped`] the phrase lists. Permissions are checked elsewhere.

mod address;
mod ask;
mod author_run;
mod command;
mod find;
mod generic;
mod languages;
mod words;

pub use address::{calls_bot, names_bot};
pub use ask::ask_of;
pub use author_run::author_run;
pub use find::{Rules, Trigger, TriggerKind, find};
pub use generic::{asks_about_bot, asks_what_was_missed, is_generic, is_small_talk, is_thanks};
pub use languages::Languages;
