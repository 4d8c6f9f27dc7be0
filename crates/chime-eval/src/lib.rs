//! The product's own yardstick: how well messages are chosen and questions answered, on data whose answers are known.
//!
//! *Owns*: reading packs, labelled chats and cases, judging answers, named baselines, the scores, what is printed of them; made-up chats, how fast all is in them, and
//! how that grows.
//! *Never*: a second selector (what runs here is what the daemon runs); lets a selector see gold.
//! *Entry*: [`context::evaluate`] and [`recall::evaluate`] over a [`pack::Pack`]; [`speed::measure`], told by `growth`; [`recalling::measure`] for
//! recall in chats of many sessions; [`answers::read`] and [`answers::Judge`] for what a model answers.

#![recursion_limit = "256"]

pub mod answers;
pub mod arguments;
pub mod commands;
pub mod context;
pub mod growth;
pub mod labelled;
pub mod pack;
pub mod recall;
pub mod recalling;
mod remembered;
pub mod score;
mod selectors;
pub mod speed;
pub mod synthetic;
mod talk;

pub use selectors::{Limits, Selector};
