//! End-to-end tests of the whole daemon: one binary, with one file for each area.
//!
//! - Questions: `answering`, `another`, `dialogue`, `matter`, `follow_up`, `follow_up_table`, `grounding`, `streaming`,
//!   `tools`, `photos`, `voice`, `languages`, `time_zone`
//! - Memory: `memory`, `sessions`, `topics`, `recall`, `recap`, `concepts`, `notes`, `embedding`
//! - Access and privacy: `access`, `consent`, `privacy`, `provenance`, `export`, `limits`, `budgets`, `trust`,
//!   `injection`
//! - Faults: `faults`, `kills` and `images` (kills in the middle of background work), `resilience`, `server`, `updates`
//! - Operation: `operator`, `showcase` (the demo), `size`, `costs`, `busy_group` (the longest test; it starts early,
//!   since tests start in the order of their names)
//! - `criteria`: the promises of the chat workflow

#![expect(clippy::expect_used, clippy::panic, reason = "a story that cannot go on fails its test")]

mod access;
mod another;
mod answering;
mod budgets;
mod busy_group;
mod concepts;
mod consent;
mod costs;
mod criteria;
mod dialogue;
mod embedding;
mod export;
mod faults;
mod follow_up;
mod follow_up_table;
mod grounding;
mod images;
mod injection;
mod kills;
mod languages;
mod limits;
mod matter;
mod memory;
mod notes;
mod operator;
mod photos;
mod privacy;
mod process;
mod provenance;
mod recall;
mod recap;
mod resilience;
mod server;
mod sessions;
mod showcase;
mod size;
mod streaming;
mod time_zone;
mod tools;
mod topics;
mod trust;
mod updates;
mod voice;
