//! Who may use the bot, where, how often, and for how many tokens a day.
//!
//! *Owns*: the decision whether a chat is served, the code that makes the first owner,
//! whether a trigger is one too many, what the day's budget still allows.
//! *Never*: IO outside its driver; what a member asked.
//! *Entry*: [`admission::served`] fetches what [`chat_access`] decides by; [`admit`], [`allowance`].

pub mod admission;
mod budget;
mod chats;
mod claim;
pub mod gateway;
mod limits;

pub use budget::{Allowance, allowance, cap_of_chat};
pub use chats::{Access, Known, chat_access, is_unclaimed};
pub use claim::ClaimCode;
pub use limits::{Decision, Recent, admit, subject, tell};
