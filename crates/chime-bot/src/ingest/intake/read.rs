//! From raw updates to events, so that one bad update harms nobody but itself.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use chime_core::repair;
use chime_core::{Event, UpdateId, UserId, unless_it_panics};
use chime_privacy::{Traces, leftover, traces};
use chime_telegram::{RawUpdate, extract};

/// An update, read or not.
#[derive(Debug)]
pub struct ReadUpdate {
    pub id: UpdateId,
    pub kind: String,
    pub json: String,
    /// What is in it beside what it tells.
    pub leftover: Option<String>,
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
    let (traces, leftover) = unless_it_panics(|| looked_through(&raw.json)).flatten().unzip();
    ReadUpdate {
        id: raw.id.unwrap_or_else(|| stand_in(&raw.json)),
        kind: raw.kind,
        json: raw.json,
        leftover: leftover.flatten(),
        traces,
        events,
    }
}

/// Whom and what it holds, and what is in it that no row will hold. None for what is no JSON: nobody can say.
fn looked_through(json: &str) -> Option<(Traces, Option<String>)> {
    let update: Value = serde_json::from_str(&repair(json)).ok()?;
    Some((traces(&update), leftover(update)))
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
