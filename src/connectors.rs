//! The crate of Chime that speaks with others: Telegram, model servers, and the Telegram inside the program that its demo and its
//! tests run on.

pub mod gateway;
pub mod llm;
pub mod sandbox;
pub mod telegram;

// The rooms below.
pub use chime_foundation::*;
