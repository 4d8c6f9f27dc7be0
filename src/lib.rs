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
//! `access` and `privacy` stand at the door of it: who is let in, and what may be kept of whom.
//!
//! Three rules hold everywhere. *Deciding is pure, doing is thin*: IO lives in the `run.rs` of a room. *Memory enriches
//! and is never a dependency.* *What was accepted is durable before it is acknowledged.*
//! `tests/house_plan.rs` checks the walls between the rooms.

pub mod access;
pub mod answer;
pub mod app;
pub mod archive;
pub mod checkup;
pub mod cli;
pub mod clock;
pub mod commands;
pub mod config;
pub mod context;
pub mod domain;
pub mod embed;
pub mod eval;
pub mod gateway;
pub mod health;
pub mod ingest;
pub mod llm;
pub mod memory;
pub mod privacy;
pub mod prompts;
pub mod recap;
pub mod resilience;
pub mod retrieval;
pub mod sandbox;
pub mod scheduler;
pub mod store;
pub mod telegram;
pub mod telemetry;
#[cfg(feature = "testkit")]
pub mod testkit;
pub mod texts;
pub mod trigger;
