//! Whether a message is for the bot, and what it asks.
//!
//! *Owns*: the rules by which a message is for the bot, the ask in it, and whether that ask only points at others.
//! *Never*: IO, who is allowed, what an answer says.
//! *Entry*: [`find`] for a message; [`own_run`] for what its author wrote just before; [`Languages::shipped`] for the phrases.

mod address;
mod ask;
mod command;
mod find;
mod generic;
mod languages;
mod own_run;
mod words;

pub use address::{calls_bot, names_bot};
pub use ask::ask_of;
pub use find::{Rules, Trigger, TriggerKind, find};
pub use generic::{asks_about_bot, asks_what_was_missed, is_generic, is_small_talk, is_thanks};
pub use languages::Languages;
pub use own_run::own_run;
