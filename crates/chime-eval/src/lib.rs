//! Evaluation: measures how well messages are chosen and questions answered, on data with known right answers, and how
//! fast the program is in made-up chats.
//!
//! Start at [`context::evaluate`] and [`recall::evaluate`] over a [`pack::Pack`], at [`speed::measure`] and
//! [`recall_speed::measure`] for speed, and at [`answers::read`] and [`answers::Judge`] for a model's answers. The
//! selector under test is the daemon's own, and it never sees the right answers ("gold").

#![recursion_limit = "256"]

pub mod answers;
pub mod arguments;
pub mod baselines;
pub mod commands;
pub mod context;
pub mod growth;
pub mod labelled;
pub mod pack;
pub mod pack_file;
mod pack_store;
pub mod recall;
pub mod recall_speed;
pub mod score;
mod selectors;
pub mod speed;
pub mod synthetic;
mod synthetic_session;

pub use selectors::{Selector, SelectorLimits};
