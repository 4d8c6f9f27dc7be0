//! The crate of Chime that thinks: which messages a trigger is about, what the chat said and decided before, what of a member may be
//! kept, and how well all that works.

pub mod context;
pub mod eval;
pub mod memory;
pub mod privacy;
pub mod retrieval;

pub use chime_connectors::{gateway, llm, sandbox, telegram};
#[cfg(feature = "testkit")]
pub use chime_foundation::testkit;
pub use chime_foundation::{
    access, clock, config, domain, embed, prompts, resilience, scheduler, store, telemetry, texts, trigger,
};
