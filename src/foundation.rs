//! The lowest of the five crates of Chime: what all others stand on. Its rooms speak neither with Telegram nor with a
//! model: what things are (`domain`), what is configured, what is stored, when the bot is addressed, and what it says of itself.

pub mod access;
pub mod clock;
pub mod config;
pub mod domain;
pub mod embed;
pub mod prompts;
pub mod resilience;
pub mod scheduler;
pub mod store;
pub mod telemetry;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod texts;
pub mod trigger;
