//! The bot's work in a chat except answering: reading along, commands, recaps, import and export.

#![recursion_limit = "256"]

pub mod archive;
pub mod commands;
pub mod ingest;
pub mod recap;
