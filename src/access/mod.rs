//! Who may use the bot, and where.
//!
//! *Owns*: the decision whether a chat is served, the code that makes the first owner, the words for who is not let in.
//! *Never*: IO; what a member asked.
//! *Entry*: [`run::served`] fetches what [`chat_access`] decides by.

mod chats;
mod claim;
pub mod run;
pub mod wording;

pub use chats::{Access, Known, chat_access, is_unclaimed};
pub use claim::ClaimCode;
