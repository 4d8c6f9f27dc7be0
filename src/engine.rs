//! The crate of Chime that thinks: which messages a trigger is about, what the chat said and decided before, what of a member may be
//! kept.

pub mod context;
pub mod memory;
pub mod privacy;
pub mod retrieval;

// The rooms below.
pub use chime_connectors::*;
