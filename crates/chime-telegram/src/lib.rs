//! Telegram Bot API: converts updates to domain events and replies to requests.
//!
//! Start with [`Telegram::get_updates`], which returns [`RawUpdate`]s for [`extract`] to parse. A reply passes through
//! [`to_entities`], [`defuse`] and [`split`] to [`Telegram::send`]. The crate classifies Telegram's errors by the
//! caller's way to recover; it uses no database, does not judge updates, and never logs message text.

mod client;
mod clip;
mod dto;
mod error;
mod extract;
mod files;
mod markdown;
mod member;
mod request;
mod safety;
mod split;
mod update;

pub use client::{Sent, Telegram};
pub use clip::MAX_ENTITIES;
pub use dto::{filled, minutes};
pub use error::{LostReply, TelegramError, classify};
pub use extract::{Unreadable, extract};
pub use files::spoken_extension;
pub use markdown::to_entities;
pub use member::MemberStatus;
pub use safety::{Allowed, defuse};
pub use split::{CUT_NOTICE, MAX_PARTS, MAX_UNITS, split};
pub use update::{ALLOWED_UPDATES, RawUpdate, parse_batch};

#[cfg(test)]
mod tests;
