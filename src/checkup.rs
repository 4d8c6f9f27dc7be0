//! `chime check`: checks everything that Chime needs and suggests remedies. It neither repairs nor starts anything.
//!
//! [`probes::Checkup`] runs the checks, and `judge.rs` turns their results into [`CheckFinding`]s.

mod finding;
mod judge;
pub mod probes;
mod sample;

pub use finding::{CheckFinding, Severity};
