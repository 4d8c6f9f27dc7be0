//! An embedded Telegram: a stateful Bot API server on loopback, for `chime demo` and for the tests.
//!
//! *Owns*: chats, people, messages and the update queue of one pretended Telegram; what the real server would say to a
//! bot's request, as far as this bot makes it.
//! *Never*: canned replies, a second implementation of anything the daemon does, a listener beyond loopback.
//! *Entry*: [`Sandbox::start`], then [`Sandbox::add_chat`] and [`Sandbox::say`]; the daemon is given
//! [`Sandbox::api_url`] and [`Sandbox::token`]. A test ends by looking at [`Sandbox::unexpected`].
//!
//! In reading order: `cast` (chats, people and what they say, as values), `entities` (what Telegram marks in a text),
//! `message`, `queue` (updates and offsets), `state` (everything together, and who hears what), `people` and `groups`
//! (what happens to it), `wire` (the state as JSON), `params` and `methods` (what a bot does to it); all of these are
//! plain functions of state, input and time. Around them `world` (the lock), `line` (a connection that can be cut),
//! `faults` (only under the feature `testkit`), `server` (HTTP) and `handle`.
//!
//! Left out on purpose: pacing (repeated polls with one offset, spaced 409s, flood limits), the 24 hours and the
//! 100,000 updates after which Telegram forgets, and that messages can be too old to be delivered: a chat of last year
//! can be replayed.

mod cast;
mod cleaning;
mod entities;
pub mod faults;
mod groups;
mod handle;
mod line;
mod message;
mod methods;
mod params;
mod people;
mod queue;
mod server;
mod state;
mod wire;
mod world;

#[cfg(test)]
mod tests;

pub use cast::{Content, NewChat, NewMember, Post, Standing};
pub use entities::marked_up;
pub use handle::{Sandbox, Setup};
pub use message::{BotAction, Cursor, SandboxMessage};
