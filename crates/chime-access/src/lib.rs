//! Access: which chats the bot serves, how often members may ask, and how many tokens a day they may use.
//!
//! Start with [`admission::served`], which loads the facts for [`chat_access`], then [`admit`] (rate limits) and
//! [`allowance`] (budgets). [`gateway`] makes the model calls.

pub mod admission;
mod chats;
mod claim;
pub mod console_tokens;
mod daily_cap;
pub mod gateway;
mod limits;

pub use chats::{Access, AccessFacts, chat_access, is_unclaimed};
pub use claim::ClaimCode;
pub use daily_cap::{Allowance, allowance, cap_of_chat};
pub use limits::{CONTROLS, Decision, Recent, admit, admit_control, subject, tell};
