//! What a trigger sets in motion: pure.

use std::time::Duration;

use crate::domain::{JobPayload, MessageAt, Timestamp};
use crate::trigger::{Trigger, TriggerKind};

/// What to do about a message, beside storing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    Nothing,
    Start(JobPayload),
    /// Too old to answer: counted, and told in one line per chat.
    CountAsOld,
}

/// `at` is the message; `sent_at` and `now` are both by Telegram's clock; `is_news` is false where the very same came before.
pub fn task_for(
    trigger: Option<&Trigger>,
    at: MessageAt,
    sent_at: Timestamp,
    is_news: bool,
    now: Timestamp,
    max_age: Duration,
) -> Task {
    let Some(trigger) = trigger else { return Task::Nothing };
    let is_old = now.since(sent_at) > max_age;
    let parsed = trigger.parsed();
    match (&trigger.kind, is_old, is_news) {
        // A job's key is the message, so that what was started before is not started again.
        (TriggerKind::Ask, false, _) => Task::Start(JobPayload::Answer { at, parsed }),
        (TriggerKind::Command(name, _), false, _) => Task::Start(JobPayload::Command { at, name: *name, parsed }),
        (TriggerKind::Thanks, false, _) => Task::Start(JobPayload::Thank { at }),
        // What somebody says about being kept holds whenever it arrives; only once, however often.
        (TriggerKind::Command(name, _), true, true) if name.spec().is_about_privacy => {
            Task::Start(JobPayload::Command { at, name: *name, parsed })
        }
        (TriggerKind::Ask, true, true) => Task::CountAsOld,
        (TriggerKind::Ask, true, false) | (TriggerKind::Command(..) | TriggerKind::Thanks, true, _) => Task::Nothing,
    }
}
