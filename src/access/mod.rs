//! Who may use the bot, and where.
//!
//! *Owns*: the decision whether a chat is served.
//! *Never*: IO; what a member asked.
//! *Entry*: [`chat_access`].

mod chats;

pub use chats::{Access, chat_access};
