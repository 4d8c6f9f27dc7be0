//! The fake world of the tests. Behind the feature `testkit`, so that none of it is in a release build.
//!
//! *Owns*: stand-ins for what is outside the process, scripted and strict: what was not expected is a failure; chats
//! written as text.
//! *Never*: a second implementation of anything of ours.
//! *Entry*: [`ModelServer`] is a language model with its lines learnt by heart, [`transcript()`] reads a chat.

mod model;
mod reply;
mod transcript;
mod world;

pub use model::ModelServer;
pub use reply::Reply;
pub use world::World;
pub use transcript::{CHAT, CHAT_KEY, DAY_ONE, moment, transcript, user};
