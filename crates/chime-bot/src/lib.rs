//! Everything that the bot does in a chat except answering: storing messages, commands, recaps, import and export.

#![recursion_limit = "256"]

pub mod archive;
pub mod commands;
pub mod ingest;
pub mod recap;
