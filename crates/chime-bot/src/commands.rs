//! In-chat commands such as `/why`, `/help` and `/settings`, and notices that the bot sends by itself.
//!
//! Start at [`handlers::Commands`]. Each command gets exactly one reply. Nothing here polls for updates or calls a
//! model.

pub mod handlers;
mod panel;
mod search;
mod shown;
mod topics;
