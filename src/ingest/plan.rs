//! What a trigger sets in motion: pure.

use std::time::Duration;

use crate::domain::{JobKind, Timestamp};
use crate::trigger::{Trigger, TriggerKind};

/// What to do about a message, beside storing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Nothing,
    Start(JobKind),
    /// Too old to answer: counted, and told in one line per chat.
    CountAsOld,
}

/// `sent_at` and `now` are both by Telegram's clock; `is_news` is false where the very same came before.
pub fn task_for(
    trigger: Option<&Trigger>,
    sent_at: Timestamp,
    is_news: bool,
    now: Timestamp,
    max_age: Duration,
) -> Task {
    let Some(trigger) = trigger else { return Task::Nothing };
    let is_old = now.since(sent_at) > max_age;
    match (&trigger.kind, is_old, is_news) {
        // A job's key is the message, so that what was started before is not started again.
        (TriggerKind::Ask, false, _) => Task::Start(JobKind::Answer),
        (TriggerKind::Command(..) | TriggerKind::Thanks, false, _) => Task::Start(JobKind::Command),
        (TriggerKind::Ask, true, true) => Task::CountAsOld,
        (TriggerKind::Ask, true, false) | (TriggerKind::Command(..) | TriggerKind::Thanks, true, _) => Task::Nothing,
    }
}
