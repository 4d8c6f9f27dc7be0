//! Counts recent messages to each chat and records when Telegram throttles it, for streaming and delivery.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::stream::Traffic;
use chime_core::{ChatId, Timestamp};

/// Period over which messages are counted.
const COUNTED: Duration = Duration::from_mins(1);

/// Recent messages and throttling by chat. Kept only in memory: after a restart, Telegram must refuse a message before
/// the wait is known again. Chats with neither are removed.
#[derive(Debug, Default)]
pub struct TrafficLog(Mutex<HashMap<ChatId, ChatTraffic>>);

#[derive(Debug, Default)]
struct ChatTraffic {
    held: Option<Hold>,
    sent: VecDeque<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Hold {
    from: Timestamp,
    until: Timestamp,
}

impl TrafficLog {
    /// Records that nothing may be sent to the chat before `until`. `from` is when the wait began: it shows if the
    /// clock was set back.
    pub fn hold(&self, chat: ChatId, from: Timestamp, until: Timestamp) {
        self.lock().entry(chat).or_default().held = Some(Hold { from, until });
    }

    pub fn held_until(&self, chat: ChatId, now: Timestamp) -> Option<Timestamp> {
        self.of(chat, now).held_until
    }

    /// Records that a message or an edit is sent.
    pub fn note_sent(&self, chat: ChatId, now: Timestamp) {
        let mut chats = self.lock();
        chats.retain(|_, traffic| traffic.is_of_use(now));
        chats.entry(chat).or_default().sent.push_back(now);
    }

    pub fn of(&self, chat: ChatId, now: Timestamp) -> Traffic {
        let mut chats = self.lock();
        let Some(recent) = chats.get_mut(&chat) else { return Traffic::default() };
        recent.is_of_use(now);
        Traffic { held_until: recent.held.map(|held| held.until), within_minute: recent.sent.len() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, ChatTraffic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatTraffic {
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
