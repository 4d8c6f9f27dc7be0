//! Decides which job a message starts. Pure.

use std::time::Duration;

use chime_core::trigger::{Trigger, TriggerKind};
use chime_core::{JobPayload, MessageAt, Timestamp};

/// Maximum age of a message at which an edit can still turn it into a question. Later, the members have read on.
const TAGGED_LATER: Duration = Duration::from_mins(15);

/// Action for a message, in addition to storing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerAction {
    Nothing,
    Start(JobPayload),
    /// Too old to be answered: it is only counted, and the chat gets the count in one line.
    CountAsOld,
}

/// Arrived message. Its times are by Telegram's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivedMessage {
    pub at: MessageAt,
    pub sent_at: Timestamp,
    pub came: ArrivalKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalKind {
    New,
    /// The same message has arrived before.
    Again,
    /// The message was edited. Its first version may never have arrived.
    Edited {
        at: Timestamp,
        /// `true` if it was already a trigger before the edit.
        was_for_us: bool,
    },
}

impl ArrivedMessage {
    /// Returns the time at which the bot was asked: the time of the message, or of the edit that made it a question.
    fn asked_at(&self) -> Timestamp {
        match self.came {
            ArrivalKind::Edited { at, was_for_us: false } if at.since(self.sent_at) <= TAGGED_LATER => at,
            ArrivalKind::New | ArrivalKind::Again | ArrivalKind::Edited { .. } => self.sent_at,
        }
    }
}

pub fn task_for(trigger: Option<&Trigger>, said: ArrivedMessage, now: Timestamp, max_age: Duration) -> TriggerAction {
    let Some(trigger) = trigger else { return TriggerAction::Nothing };
    let (at, parsed) = (said.at, trigger.parsed());
    let is_old = now.since(said.asked_at()) > max_age;
    match (&trigger.kind, is_old, said.came) {
        // The message is the job's key, so a message that arrives again does not start a second job.
        (TriggerKind::Ask, false, _) => TriggerAction::Start(JobPayload::Answer { at, parsed }),
        (TriggerKind::Command(name, _), false, _) => {
            TriggerAction::Start(JobPayload::Command { at, name: *name, parsed })
        }
        (TriggerKind::Thanks, false, _) => TriggerAction::Start(JobPayload::Thank { at }),
        // A privacy command is carried out however late it arrives, but only once.
        (TriggerKind::Command(name, _), true, ArrivalKind::New) if name.is_about_privacy() => {
            TriggerAction::Start(JobPayload::Command { at, name: *name, parsed })
        }
        (TriggerKind::Ask | TriggerKind::Command(..), true, ArrivalKind::New) => TriggerAction::CountAsOld,
        (TriggerKind::Ask | TriggerKind::Command(..) | TriggerKind::Thanks, true, _) => TriggerAction::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{AddressedBy, ChatId, MessageId};

    const MAX_AGE: u64 = 600;

    /// Checks the action. `edited` is the time of an edit in seconds after the message, and `true` if the message was a
    /// trigger before.
    #[track_caller]
    fn check(edited: Option<(u64, bool)>, now: u64, expected: &str) {
        let sent_at = Timestamp::from_secs(1_000_000);
        let later = |secs| sent_at.plus(Duration::from_secs(secs));
        let came =
            edited.map_or(ArrivalKind::New, |(secs, was_for_us)| ArrivalKind::Edited { at: later(secs), was_for_us });
        let said = ArrivedMessage { at: MessageAt { chat: ChatId(-1), message: MessageId(7) }, sent_at, came };
        let trigger = Trigger {
            kind: TriggerKind::Ask,
            how: AddressedBy::Mention,
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
