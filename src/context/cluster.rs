//! Time-gap clustering: a conversation is a run of messages with no long silence in it.

use std::time::Duration;

use crate::context::pool::{Place, Pool};
use crate::context::window::Params;
use crate::domain::Timestamp;

/// How many messages of one author may follow when the lookback limit falls between them. Enough for a thought sent
/// in pieces, and no way to flood a window.
const BURST_LIMIT: usize = 10;

/// A run of messages, nearest to its starting point first, and why it ended.
pub struct Run {
    pub places: Vec<Place>,
    pub ended: End,
}

/// Why a run of messages ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing further is known.
    Exhausted,
    /// A silence longer than the threshold.
    Silence(Duration),
    /// The lookback limit.
    Limit,
}

/// Walks back from the trigger.
pub fn before_trigger(pool: &Pool<'_>, params: &Params) -> Run {
    let steps =
        pool.conversation.iter().rev().copied().filter(|place| pool.sent_at(*place) <= pool.trigger.message.sent_at);
    walk(pool, pool.trigger.message.sent_at, steps, params)
}

/// Walks both ways from `anchor`. Of the two runs the messages nearest in time are kept, up to the lookback limit.
///
/// Empty for an anchor in another thread: a link brings one message over, not its surroundings.
pub fn around(pool: &Pool<'_>, anchor: Place, params: &Params) -> Vec<Place> {
    let Ok(position) = pool.conversation.binary_search(&anchor) else {
        return Vec::new();
    };
    let at = pool.sent_at(anchor);
    let back = walk(pool, at, pool.conversation[..position].iter().rev().copied(), params);
    let forth = walk(pool, at, pool.conversation[position + 1..].iter().copied(), params);
    let mut places = [back.places, forth.places].concat();
    places.sort_by_key(|place| (distance(pool.sent_at(*place), at), *place));
    places.truncate(params.lookback_limit);
    places
}

/// Follows `steps` from the moment `from` until a silence *longer than* the threshold, or the lookback limit. A burst
/// of one author that only the limit would cut comes in whole.
fn walk(pool: &Pool<'_>, from: Timestamp, steps: impl Iterator<Item = Place>, params: &Params) -> Run {
    let mut places: Vec<Place> = Vec::new();
    let mut last = from;
    for place in steps {
        let silence = distance(pool.sent_at(place), last);
        if silence > params.time_threshold {
            return Run { places, ended: End::Silence(silence) };
        }
        if places.len() >= params.lookback_limit && !continues_burst(pool, &places, place, params.lookback_limit) {
            return Run { places, ended: End::Limit };
        }
        places.push(place);
        last = pool.sent_at(place);
    }
    Run { places, ended: End::Exhausted }
}

fn continues_burst(pool: &Pool<'_>, taken: &[Place], next: Place, limit: usize) -> bool {
    let author = |place: Place| pool.messages[place].message.sender.id;
    taken.len() < limit.saturating_add(BURST_LIMIT) && taken.last().is_some_and(|last| author(*last) == author(next))
}

fn distance(a: Timestamp, b: Timestamp) -> Duration {
    a.since(b).max(b.since(a))
}
