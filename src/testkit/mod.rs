//! What tests share. Behind the feature `testkit`, so that none of it is in a release build.
//!
//! *Owns*: chats written as text.
//! *Never*: behaviour of the product.
//! *Entry*: [`transcript()`].

mod transcript;

pub use transcript::{CHAT, CHAT_KEY, DAY_ONE, moment, transcript, user};
