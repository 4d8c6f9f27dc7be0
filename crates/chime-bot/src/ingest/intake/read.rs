//! Parses raw updates into events, each by itself, so that a malformed update does not affect others.

use std::hash::{DefaultHasher, Hash, Hasher};

use chime_core::{Event, UpdateId, UserId, unless_it_panics};
use chime_telegram::{RawUpdate, extract};

/// Update after parsing, which may have failed.
#[derive(Debug)]
pub struct ReadUpdate {
    pub id: UpdateId,
    pub kind: String,
    /// Events of the update, or the reason why it cannot be parsed.
    pub events: Result<Vec<Event>, String>,
}

/// Parses a batch. Updates that cannot be parsed are returned too, with the reason.
pub fn read_batch(batch: Vec<RawUpdate>, bot: UserId) -> Vec<ReadUpdate> {
    batch.into_iter().map(|raw| read(raw, bot)).collect()
}

fn read(raw: RawUpdate, bot: UserId) -> ReadUpdate {
    let events = match unless_it_panics(|| extract(&raw, bot)) {
        Some(Ok(events)) => Ok(events),
        Some(Err(unreadable)) => Err(unreadable.to_string()),
        None => Err("reading it panicked".to_owned()),
    };
    ReadUpdate { id: raw.id.unwrap_or_else(|| substitute_id(&raw.json)), kind: raw.kind, events }
}

/// Returns the offset that confirms the whole batch to Telegram, or `None` if no update in it has an id.
pub fn offset_after(batch: &[RawUpdate]) -> Option<i64> {
    batch.iter().filter_map(|raw| raw.id).map(|id| id.0.saturating_add(1)).max()
}

/// Returns an id for an update that has none: a negative hash of its content. Telegram's ids are never negative.
fn substitute_id(json: &str) -> UpdateId {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    UpdateId(-1 - (hasher.finish() >> 1).cast_signed())
}
