//! The clock, and retry delays, circuit breakers and deadlines.
//!
//! Only [`clock::Clock`] reads the time; all other code gets it as a [`Timestamp`](chime_core::Timestamp).

pub mod clock;
pub mod resilience;
