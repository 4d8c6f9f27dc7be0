//! Chooses messages: which recent ones a question is about ([`context`]), and which older ones answer it ([`retrieval`]).
//!
//! Everything here is a pure function of messages, features and time; `chime-memory` loads what it works on.

pub mod context;
pub mod retrieval;
