//! (room not furnished yet)

mod clip;
mod markdown;
mod safety;
mod split;

pub use markdown::to_entities;
pub use safety::{Allowed, defuse};
pub use split::{CUT_NOTICE, MAX_PARTS, MAX_UNITS, split};

#[cfg(test)]
mod format_properties;
