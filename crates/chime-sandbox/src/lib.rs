//! An embedded Telegram: a stateful Bot API server on the loopback interface, for `chime demo` and for tests.
//!
//! Start with [`Sandbox::start`], then [`Sandbox::add_chat`] and [`Sandbox::say`]; the daemon connects with
//! [`Sandbox::api_url`] and [`Sandbox::token`]. A test ends with a check of [`Sandbox::unexpected`]. For the requests
//! that this bot makes, the server answers as the real one would, with the fields that the bot reads; it has no canned
//! replies.
//!
//! The modules, in reading order:
//!
//! - pure functions of state, input and time: `input` (chats, people and posts as values), `entities` (entities that
//!   Telegram finds in a text), `message`, `queue` (updates and offsets), `state` (the whole state),
//!   `people` and `groups` (events), `wire` (the state as JSON), `delivery` (messages that the bot receives), `params`
//!   and `methods` (the bot's requests);
//! - around them: `shared` (the lock), `connection` (connections that can be cut), `faults` (only with the feature
//!   `testkit`), `server` (HTTP) and `handle`.
//!
//! Deliberately not simulated: rate limits for polls and messages, the expiry of updates after 24 hours or 100,000
//! updates, and Telegram's age limit for delivered messages, so that a chat of last year can be replayed.

mod cleaning;
mod connection;
mod delivery;
mod entities;
pub mod faults;
mod groups;
mod handle;
mod input;
mod message;
mod methods;
mod params;
mod people;
mod queue;
mod server;
mod shared;
mod state;
mod wire;

#[cfg(test)]
mod tests;

pub use handle::{Sandbox, Setup};
pub use input::{ChatMemberStatus, NewChat, NewMember, Post, PostContent};
pub use message::{BotAction, Cursor, SandboxMessage};
