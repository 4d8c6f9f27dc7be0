//! Telegram's wire: updates become domain events, replies become requests.
//!
//! *Owns*: reading updates leniently, the HTTP client, Telegram's errors sorted by what the caller can do about them;
//! Markdown to entities, cutting long texts, making a text harmless.
//! *Never*: the database, deciding whether an update matters, logging what members wrote.
//! *Entry*: [`Telegram::get_updates`] gives [`RawUpdate`]s, [`extract`] reads them; a reply goes through
//! [`to_entities`], [`defuse`] and [`split`] to [`Telegram::send`].

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

pub use client::{Sent, Telegram, TelegramOptions};
pub use clip::MAX_ENTITIES;
pub use error::{LostReply, TelegramError, classify};
pub use extract::{Unreadable, extract};
pub use files::{AttachedFile, Photo, Recording, attached_file, photo, recording};
pub use markdown::to_entities;
pub use member::MemberStatus;
pub use safety::{Allowed, defuse};
pub use split::{CUT_NOTICE, MAX_PARTS, MAX_UNITS, split};
pub use update::{ALLOWED_UPDATES, RawUpdate, parse_batch};

#[cfg(test)]
mod format_properties;
