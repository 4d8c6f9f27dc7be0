//! Chime, the member of a Telegram group who has read everything, says nothing until tagged, and then answers about
//! the conversation at hand, with links to the messages it rests on.
//!
//! One message walks through the rooms in this order:
//!
//! ```text
//!  Telegram ──> telegram ──> ingest ──────────┐          ┌───────── scheduler
//!  (updates)    wire->domain  normalise, commit │          │  jobs table, due work, retries
//!                                               v          v
//!                                store   <── one writer, many readers ──> migrations/
//!                                               │
//!                           trigger ── are we addressed? (pure)
//!                                               │
//!               context ── what is being talked about (pure; run.rs fetches)
//!               answer  ── prompt, citations, outbox policy (pure; run.rs drives)
//!                                               │
//!                                gateway ── may a model be asked, which, what did it cost
//!                                llm ── ask, under resilience
//!                                               │
//!  Telegram <── telegram <── reply checked, sent, recorded in store
//! ```
//!
//! `access` and `privacy` stand at the door of it: who is let in, and what may be kept of whom. `voice` transcribes what is
//! spoken.
//!
//! Three rules hold everywhere. *Deciding is pure, doing is thin*: IO lives in the `run.rs` of a room. *Memory enriches
//! and is never a dependency.* *What was accepted is durable before it is acknowledged.*
//! `tests/house_plan.rs` checks the walls between the rooms.
//!
//! The rooms are in five crates, each of which uses only those below it; `src/<crate>.rs` names the rooms of one:
//!
//! | crate | what its rooms do |
//! |---|---|
//! | `chime` | the program: its commands, and how the rooms are put together |
//! | `chime-assistant` | act in a chat; measure how well |
//! | `chime-engine` | choose messages, recall, remember |
//! | `chime-connectors` | speak with Telegram and with models |
//! | `chime-foundation` | what things are, what is configured, stored and said |
//!
//! Each crate passes on the rooms below it, so a room is `crate::<room>` everywhere, whichever crate it is in.

#![recursion_limit = "256"]

pub mod app;
pub mod checkup;
pub mod cli;
pub mod health;
pub mod telemetry;
