//! Detects messages that address the bot, and extracts the question.
//!
//! Start with [`find`] for one message. [`author_run()`] returns the messages that its author wrote just before, and
//! [`Languages::shipped`] the phrase lists. Other crates check if the author may ask.

mod address;
mod ask;
mod author_run;
mod find;
mod generic;
mod languages;
mod words;

pub use address::{called_at_start, calls_bot, is_command, is_for_bot, names_bot};
pub use ask::ask_of;
pub use author_run::author_run;
pub use find::{Rules, Trigger, TriggerKind, find};
pub use generic::{
    asks_about_bot, asks_for_ideas, asks_for_poll, asks_for_summary, asks_others_for_summary, asks_to_choose,
    asks_what_was_missed, consents, is_about_bot, is_generic, is_small_talk, is_thanks,
};
pub(crate) use languages::share;
pub use languages::{Languages, QUESTION_MARKS, ends_like_question};
