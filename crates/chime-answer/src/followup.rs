//! Asks that go on with a suggestion: "more", "cheaper", "what about the second one?", "something by the same author".
//!
//! All of it is pure. Patterns from data files read the ask ([`classify`]); [`resolve`] merges what was read with the
//! stored frame in a fixed order: extract, stored, reset, preserve, refine, item question, entities.
//!
//! In reading order: `words` and `tables` (how phrases are found), `budget`, `signals`, `classify` (what the ask says),
//! `preserve` (what is taken over from the earlier frame, and when the exclude list
//! starts anew), `item_question`, `entities`, `references` (what names, places and pronouns stand for), `resolve` (the
//! whole), `origin` (which suggestion an ask goes on with), `items` (what an answer suggested), `show` (a follow-up in words).

mod budget;
mod classify;
mod entities;
mod item_question;
mod items;
mod origin;
mod preserve;
mod references;
mod resolve;
pub mod show;
mod signals;
mod tables;
mod words;

pub use classify::{Ask, Reading, classify};
pub use item_question::names_items;
pub use items::{items, lists_things, repeats_title};
pub use origin::{Earlier, Origin, ReplyTo, Standpoint, origin};
pub use resolve::{Outcome, Stored, Turn, Undecided, answered, choose, resolve};
pub use signals::Signals;
pub use tables::Tables;
