//! The crate of Chime that acts in a chat: it reads along, answers, obeys commands and tells who was away what was missed.

pub mod answer;
pub mod archive;
pub mod commands;
pub mod health;
pub mod ingest;
pub mod recap;

pub use chime_connectors::{gateway, llm, sandbox, telegram};
pub use chime_engine::{context, eval, memory, privacy, retrieval};
#[cfg(feature = "testkit")]
pub use chime_foundation::testkit;
pub use chime_foundation::{
    access, clock, config, domain, embed, prompts, resilience, scheduler, store, telemetry, texts, trigger,
};
