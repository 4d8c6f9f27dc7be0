//! Time and result of storing a batch of updates.

use std::collections::{HashMap, HashSet};

use crate::ingest::intake::memory_jobs::{Touched, Turns};
use chime_core::{Because, ChatId, Conversation, Job, Timestamp};

/// Time at which a batch is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub now: Timestamp,
    /// Current time by Telegram's clock, which also dates the messages; use it to compute their age.
    pub there: Timestamp,
}

/// Result of storing a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub stored: usize,
    /// Jobs that are due now.
    pub started: Vec<Job>,
    /// `true` if jobs were added that are not in `started`.
    pub postponed: bool,
    /// Kind and reason of each update that was parked.
    pub parked: Vec<(String, String)>,
    /// Triggers refused by the rate limit.
    pub refused: Vec<(ChatId, Because)>,
    /// New votes on answers: `true` for 👍, `false` for 👎.
    pub feedback: Vec<bool>,
    /// Chats that wrote without being allowed.
    pub refused_chats: HashSet<i64>,
    /// Hours of conversations with new or changed messages. Sessions are computed again for these.
    pub touched: Touched,
    /// New messages by members.
    pub turns: Turns,
    /// Conversations with new messages; `true` if one of them is being answered.
    pub heard: HashMap<Conversation, bool>,
}
