//! How much each chat was sent lately. Shared by whoever shows an answer while it is written and whoever delivers it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::stream::Traffic;
use chime_core::{ChatId, Timestamp};

/// The span over which messages are counted.
const COUNTED: Duration = Duration::from_secs(60);

/// What goes out, by chat. Clones are the same one. Chats that nothing was sent to lately take no room.
#[derive(Debug, Clone, Default)]
pub struct Lanes(Arc<Mutex<HashMap<ChatId, Lane>>>);

#[derive(Debug, Default)]
struct Lane {
    held: Option<Hold>,
    sent: VecDeque<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Hold {
    from: Timestamp,
    until: Timestamp,
}

impl Lanes {
    /// Telegram asks to leave the chat in peace until then.
    pub fn hold(&self, chat: ChatId, from: Timestamp, until: Timestamp) {
        self.lock().entry(chat).or_default().held = Some(Hold { from, until });
    }

    pub fn held_until(&self, chat: ChatId, now: Timestamp) -> Option<Timestamp> {
        self.traffic(chat, now).held_until
    }

    /// A message or an edit goes out.
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

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Lane>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lane {
    /// Forgets what is past; whether anything is left.
    fn is_of_use(&mut self, now: Timestamp) -> bool {
        while self.sent.front().is_some_and(|at| now.since(*at) > COUNTED) {
            self.sent.pop_front();
        }
        // Where the clock was set back, nobody knows how much of the wait is left: asking again tells.
        self.held = self.held.filter(|held| held.until > now && held.until.since(now) <= held.until.since(held.from));
        self.held.is_some() || !self.sent.is_empty()
    }
}
