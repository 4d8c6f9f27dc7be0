//! Telegram's wire: updates become domain events, replies become requests.
//!
//! *Owns*: reading updates leniently, the HTTP client, Telegram's errors sorted by what the caller can do about them.
//! *Never*: the database, deciding whether an update matters, logging what members wrote.
//! *Entry*: [`Telegram::get_updates`] gives [`RawUpdate`]s, [`extract`] reads them, [`Telegram::send`] replies.

mod client;
mod dto;
mod error;
mod extract;
mod member;
mod repair;
mod request;
mod update;

pub use client::{Sent, Telegram, TelegramOptions};
pub use error::{LostReply, TelegramError, classify};
pub use extract::{Unreadable, extract};
pub use member::MemberStatus;
pub use update::{ALLOWED_UPDATES, RawUpdate, parse_batch};
