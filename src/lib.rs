//! Chime: a Telegram bot that reads along in a group and, when tagged, answers about the conversation at hand with
//! links to its sources.
//!
//! A message takes this way through the crates:
//!
//! 1. `chime-telegram` parses the update. `chime-access` decides whether the chat is served, and `chime-privacy` which
//!    parts of the message may be stored.
//! 2. `chime-bot` stores the message and its job in one transaction of `chime-store`; only then is the update
//!    confirmed.
//! 3. `chime-jobs` runs the job. `chime-bot` handles commands, and `chime-answer` handles questions.
//! 4. For a question, `chime-memory` loads messages and `chime-relevance` chooses among them. The gateway in
//!    `chime-access` checks the budget and calls the model through `chime-llm`.
//! 5. `chime-answer` checks the reply, stores it in the outbox, and sends it.
//!
//! This crate has the operator's commands and connects the crates: start at [`app::App`]. Decisions are pure functions,
//! and their callers do the IO. Answers are better with memory, but possible without it.

#![recursion_limit = "256"]

pub mod app;
pub mod checkup;
pub mod cli;
pub mod health;
pub mod telemetry;
