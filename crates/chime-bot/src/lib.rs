//! What the bot does in a chat, beside answering: reads along, obeys commands, writes recaps, imports and exports.

#![recursion_limit = "256"]

pub mod archive;
pub mod commands;
pub mod ingest;
pub mod recap;
