//! Parses raw updates into events, so that a bad update affects no other.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use chime_core::repair;
use chime_core::{Event, UpdateId, UserId, unless_it_panics};
use chime_privacy::{Traces, leftover, traces};
use chime_telegram::{RawUpdate, extract};

/// Update after parsing, successful or not.
#[derive(Debug)]
pub struct ReadUpdate {
    pub id: UpdateId,
    pub kind: String,
    pub json: String,
    /// Content that its events do not cover.
    pub leftover: Option<String>,
    /// Users and messages in the update; `None` if unknown.
    pub traces: Option<Traces>,
    /// Events in the update, or the reason why they cannot be read.
    pub events: Result<Vec<Event>, String>,
}

/// Parses a batch. Updates that cannot be parsed are included, to be parked.
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

/// Returns the users and messages in an update, and its content beyond the events. Returns `None` if it is not JSON.
fn looked_through(json: &str) -> Option<(Traces, Option<String>)> {
    let update: Value = serde_json::from_str(&repair(json)).ok()?;
    Some((traces(&update), leftover(update)))
}

/// Returns the offset that confirms the whole batch, or `None` if no update has an id.
pub fn offset_after(batch: &[RawUpdate]) -> Option<i64> {
    batch.iter().filter_map(|raw| raw.id).map(|id| id.0.saturating_add(1)).max()
}

/// Returns a substitute id for an update without one: a hash of its content, below zero where Telegram has no ids.
fn stand_in(json: &str) -> UpdateId {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    UpdateId(-1 - (hasher.finish() >> 1).cast_signed())
}
