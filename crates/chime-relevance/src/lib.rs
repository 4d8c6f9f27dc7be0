//! Selects messages: the recent ones that a question is about ([`context`]), and the older ones that answer it
//! ([`retrieval`]).
//!
//! All of it is pure functions of messages, features and time; `chime-memory` loads their input.

pub mod context;
pub mod retrieval;
