//! Clock, and what depends on it: deadlines, back-off and circuit breakers.
//!
//! Time is a value everywhere else; only [`clock::Clock`] reads it.

pub mod clock;
pub mod resilience;
