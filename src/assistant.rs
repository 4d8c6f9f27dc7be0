//! The crate of Chime that acts in a chat: it reads along, answers, obeys commands and tells who was away what was missed. And what
//! measures how well that goes.

pub mod answer;
pub mod archive;
pub mod commands;
pub mod eval;
pub mod health;
pub mod ingest;
pub mod recap;
pub mod voice;

// The rooms below.
pub use chime_engine::*;
