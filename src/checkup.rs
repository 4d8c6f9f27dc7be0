//! Whether everything that Chime needs is there, and what to do about what is not: `chime check`.
//!
//! *Owns*: what is looked at, how grave each finding is, and its remedy.
//! *Never*: mends anything; starts a daemon; polls.
//! *Entry*: [`probes::Checkup`] looks, `judge.rs` makes a [`Finding`] of what was seen.

mod finding;
mod judge;
pub mod probes;
mod sample;

pub use finding::{Finding, Verdict};
