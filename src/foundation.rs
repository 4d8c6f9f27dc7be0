//! The lowest of the five crates of Chime: what all others stand on. Its rooms know nothing of Telegram, of models or of each
//! other's work: what things are (`domain`), what was configured, what is stored and what is said to people.

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
