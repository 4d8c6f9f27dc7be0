//! Who may use the bot, where, how often, and for how many tokens a day.
//!
//! *Owns*: the decision whether a chat is served, whether a trigger is one too many, what the day's budget still allows.
//! *Never*: IO; what a member asked.
//! *Entry*: [`chat_access`], [`admit`], [`allowance`].

mod budget;
mod chats;
mod limits;

pub use budget::{Allowance, allowance};
pub use chats::{Access, chat_access};
pub use limits::{Decision, Recent, admit, subject, tell};
