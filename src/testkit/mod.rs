//! The fake world of the tests. Behind the feature `testkit`, so that none of it is in a release build.
//!
//! *Owns*: stand-ins for what is outside the process, scripted and strict: what was not expected is a failure; chats
//! written as text; updates of every kind.
//! *Never*: a second implementation of anything of ours.
//! *Entry*: [`World`] is the whole daemon among stand-ins, [`transcript()`] reads a chat, [`updates`] makes updates and
//! checks requests.

mod database;
mod exports;
mod model;
mod reply;
mod transcript;
pub mod updates;

pub use database::{new_store, write_new_database};
pub use exports::Export;
pub use model::ModelServer;
pub use reply::Reply;
pub use transcript::{CHAT, CHAT_KEY, DAY_ONE, here, moment, transcript, user};
