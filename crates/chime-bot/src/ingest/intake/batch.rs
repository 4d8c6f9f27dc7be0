//! Time and result of storing a batch of updates.

use std::collections::{HashMap, HashSet};

use crate::ingest::intake::memory_jobs::{ChangedHours, NewMessageCounts};
use chime_core::{ChatId, Conversation, GuestQuestion, RefusalReason, Timestamp};

/// Current time by both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BothClocks {
    pub now: Timestamp,
    /// Current time by Telegram's clock, which also dates the messages; use it to compute their age.
    pub there: Timestamp,
}

/// Result of storing a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub stored: usize,
    /// Number of jobs about triggers that can start at once.
    pub started: usize,
    /// `true` if other jobs were added.
    pub postponed: bool,
    /// Kind and error of each update that was stored but could not be handled.
    pub parked: Vec<(String, String)>,
    /// Triggers refused by the rate limit.
    pub refused: Vec<(ChatId, RefusalReason)>,
    /// New votes on answers: `true` for 👍, `false` for 👎.
    pub feedback: Vec<bool>,
    /// Chats whose messages were rejected because the chat is not authorised.
    pub refused_chats: HashSet<i64>,
    /// Hours of conversations in which messages were added or changed, so that their sessions must be divided again.
    pub touched: ChangedHours,
    /// Questions in chats that the bot is not in.
    pub guests: Vec<GuestQuestion>,
    pub turns: NewMessageCounts,
    /// Conversations with new messages; the value is `true` if one of these messages is being answered.
    pub heard: HashMap<Conversation, bool>,
}
