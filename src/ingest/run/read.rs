//! From raw updates to events, so that one bad update harms nobody but itself.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::domain::{Event, UpdateId, UserId, unless_it_panics};
use crate::privacy::{Traces, traces};
use crate::telegram::{RawUpdate, extract, repair};

/// An update, read or not.
#[derive(Debug)]
pub struct ReadUpdate {
    pub id: UpdateId,
    pub kind: String,
    pub json: String,
    /// Whom and what it holds; none where that cannot be known.
    pub traces: Option<Traces>,
    /// What it tells, or why that cannot be known.
    pub events: Result<Vec<Event>, String>,
}

/// Reads a batch. Nothing is left out: what cannot be read is to be parked.
pub fn read_batch(batch: Vec<RawUpdate>, bot: UserId) -> Vec<ReadUpdate> {
    batch.into_iter().map(|raw| read(raw, bot)).collect()
}

fn read(raw: RawUpdate, bot: UserId) -> ReadUpdate {
    let events = match unless_it_panics(|| extract(&raw, bot)) {
        Some(Ok(events)) => Ok(events),
        Some(Err(unreadable)) => Err(unreadable.to_string()),
        None => Err("reading it panicked".to_owned()),
    };
    let traces = unless_it_panics(|| traces(&repair(&raw.json))).flatten();
    ReadUpdate { id: raw.id.unwrap_or_else(|| stand_in(&raw.json)), kind: raw.kind, json: raw.json, traces, events }
}

/// The offset that confirms the whole batch; none when no update has an id.
pub fn offset_after(batch: &[RawUpdate]) -> Option<i64> {
    batch.iter().filter_map(|raw| raw.id).map(|id| id.0.saturating_add(1)).max()
}

/// An update without an id is known by its content: below zero, where Telegram has no ids.
fn stand_in(json: &str) -> UpdateId {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    UpdateId(-1 - (hasher.finish() >> 1).cast_signed())
}
