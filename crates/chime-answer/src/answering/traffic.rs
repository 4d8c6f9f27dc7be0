//! Counts recent messages to each chat and records when Telegram throttles it, for streaming and delivery.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::stream::Traffic;
use chime_core::{ChatId, Timestamp};

/// Period over which messages are counted.
const COUNTED: Duration = Duration::from_secs(60);

/// Recent messages and throttling by chat. Clones share the same data. Chats without either are removed.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<Mutex<HashMap<ChatId, ChatLane>>>);

#[derive(Debug, Default)]
struct ChatLane {
    held: Option<Hold>,
    sent: VecDeque<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Hold {
    from: Timestamp,
    until: Timestamp,
}

impl Lanes {
    /// Records that nothing may be sent to the chat before `until`. `from` is when the wait began: it shows if the
    /// clock was set back.
    pub fn hold(&self, chat: ChatId, from: Timestamp, until: Timestamp) {
        self.lock().entry(chat).or_default().held = Some(Hold { from, until });
    }

    pub fn held_until(&self, chat: ChatId, now: Timestamp) -> Option<Timestamp> {
        self.traffic(chat, now).held_until
    }

    /// Records that a message or an edit is sent.
    pub fn note_sent(&self, chat: ChatId, now: Timestamp) {
        let mut lanes = self.lock();
        lanes.retain(|_, lane| lane.is_of_use(now));
        lanes.entry(chat).or_default().sent.push_back(now);
    }

    pub fn traffic(&self, chat: ChatId, now: Timestamp) -> Traffic {
        let mut lanes = self.lock();
        let Some(lane) = lanes.get_mut(&chat) else { return Traffic::default() };
        lane.is_of_use(now);
        Traffic { held_until: lane.held.map(|held| held.until), within_minute: lane.sent.len() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, ChatLane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatLane {
    /// Removes expired entries. Returns `true` if any are left.
    fn is_of_use(&mut self, now: Timestamp) -> bool {
        while self.sent.front().is_some_and(|at| now.since(*at) > COUNTED) {
            self.sent.pop_front();
        }
        // If the clock was set back, the rest of the wait is unknown. The wait is then dropped: if it is not over,
        // Telegram refuses the next message and states the rest.
        self.held = self.held.filter(|held| held.until > now && held.until.since(now) <= held.until.since(held.from));
        self.held.is_some() || !self.sent.is_empty()
    }
}
