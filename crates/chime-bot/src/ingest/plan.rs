//! Decides which job a trigger starts. Pure.

use std::time::Duration;

use chime_core::trigger::{Trigger, TriggerKind};
use chime_core::{JobPayload, MessageAt, Timestamp};

/// Age up to which an edit can turn a message into a question. Later, members no longer read there.
const TAGGED_LATER: Duration = Duration::from_secs(15 * 60);

/// Action for a message, apart from storing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAction {
    Nothing,
    Start(JobPayload),
    /// Too old to answer: counted, and reported in one line per chat.
    CountAsOld,
}

/// Message as it arrived. Times are by Telegram's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedMessage {
    pub at: MessageAt,
    pub sent_at: Timestamp,
    pub came: Came,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    New,
    /// The same message arrived before.
    Again,
    /// An edit; the original message may never have arrived.
    Edited {
        at: Timestamp,
        /// `true` if the message was a trigger before the edit too.
        was_for_us: bool,
    },
}

impl ArrivedMessage {
    /// Returns the time of the message, or of the edit that turned it into a question.
    fn asked_at(&self) -> Timestamp {
        match self.came {
            Came::Edited { at, was_for_us: false } if at.since(self.sent_at) <= TAGGED_LATER => at,
            Came::New | Came::Again | Came::Edited { .. } => self.sent_at,
        }
    }
}

pub fn task_for(trigger: Option<&Trigger>, said: ArrivedMessage, now: Timestamp, max_age: Duration) -> TriggerAction {
    let Some(trigger) = trigger else { return TriggerAction::Nothing };
    let (at, parsed) = (said.at, trigger.parsed());
    let is_old = now.since(said.asked_at()) > max_age;
    match (&trigger.kind, is_old, said.came) {
        // The job's key is the message, so a job that was started before does not start again.
        (TriggerKind::Ask, false, _) => TriggerAction::Start(JobPayload::Answer { at, parsed }),
        (TriggerKind::Command(name, _), false, _) => {
            TriggerAction::Start(JobPayload::Command { at, name: *name, parsed })
        }
        (TriggerKind::Thanks, false, _) => TriggerAction::Start(JobPayload::Thank { at }),
        // A privacy command is handled however late it arrives, but only once.
        (TriggerKind::Command(name, _), true, Came::New) if name.spec().is_about_privacy => {
            TriggerAction::Start(JobPayload::Command { at, name: *name, parsed })
        }
        (TriggerKind::Ask | TriggerKind::Command(..), true, Came::New) => TriggerAction::CountAsOld,
        (TriggerKind::Ask | TriggerKind::Command(..) | TriggerKind::Thanks, true, _) => TriggerAction::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{ChatId, How, MessageId};

    const MAX_AGE: u64 = 600;

    /// `edited` is the time of the edit in seconds after the message, and whether the message was a trigger before.
    #[track_caller]
    fn check(edited: Option<(u64, bool)>, now: u64, expected: &str) {
        let sent_at = Timestamp::from_secs(1_000_000);
        let later = |secs| sent_at.plus(Duration::from_secs(secs));
        let came = edited.map_or(Came::New, |(secs, was_for_us)| Came::Edited { at: later(secs), was_for_us });
        let said = ArrivedMessage { at: MessageAt { chat: ChatId(-1), message: MessageId(7) }, sent_at, came };
        let trigger = Trigger {
            kind: TriggerKind::Ask,
            how: How::Mention,
            ask: "when?".to_owned(),
            generic: false,
            cut: Vec::new(),
        };
        let task = match task_for(Some(&trigger), said, later(now), Duration::from_secs(MAX_AGE)) {
            TriggerAction::Nothing => "nothing",
            TriggerAction::Start(_) => "start",
            TriggerAction::CountAsOld => "count",
        };
        assert_eq!(task, expected);
    }

    #[test]
    fn an_old_question_is_counted_and_an_old_edit_is_not() {
        check(None, 10, "start");
        check(None, 601, "count");
        check(Some((10, false)), 86_400, "nothing");
        check(Some((86_000, false)), 86_400, "nothing");
    }

    #[test]
    fn a_tag_that_an_edit_adds_is_as_old_as_the_edit_for_a_quarter_of_an_hour() {
        check(Some((800, false)), 810, "start");
        check(Some((800, false)), 1_500, "nothing");
        check(Some((901, false)), 905, "nothing");
        check(Some((800, true)), 810, "nothing");
        check(Some((5, true)), 10, "start");
    }
}
