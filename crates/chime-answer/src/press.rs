//! Decides on a press on the button "another conversation". Pure functions.

use std::time::Duration;

use crate::notices::Notices;
use chime_access::{Allowance, Decision};
use chime_core::{AnswerRecord, Because, Timestamp};

/// Data of the button. It does not name the answer, which is found by the pressed message: a client can send any data.
pub const OTHER_MATTER: &str = "other";

#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub data: &'a str,
    /// `true` if the presser is a member of the chat.
    pub is_member: bool,
    /// The answer above the button, if it is still stored.
    pub answer: Option<&'a AnswerRecord>,
    /// `true` if the trigger and a message of the other subject may still be read.
    pub is_kept: bool,
    /// By the number of recent questions.
    pub admission: Decision,
    /// By the tokens spent today.
    pub allowance: Allowance,
    pub now: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answer,
    Tell(Told),
}

/// Notice that only the presser sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    UnknownButton,
    MembersOnly,
    NoLongerKept,
    AnsweredAlready,
    Refused { because: Because, wait: Duration },
}

/// Decides on a press. A second press finds that the first one was answered.
pub fn outcome(facts: &Facts<'_>) -> Outcome {
    let Facts { data, is_member, answer, is_kept, admission, allowance, now } = *facts;
    if data != OTHER_MATTER {
        return Outcome::Tell(Told::UnknownButton);
    }
    if !is_member {
        return Outcome::Tell(Told::MembersOnly);
    }
    let Some(alternative) = answer.and_then(|answer| answer.alternative.as_ref()) else {
        return Outcome::Tell(Told::NoLongerKept);
    };
    if alternative.asked_by.is_some() {
        return Outcome::Tell(Told::AnsweredAlready);
    }
    if !is_kept {
        return Outcome::Tell(Told::NoLongerKept);
    }
    match (admission, allowance) {
        (Decision::Refuse { because, until, .. }, _) => {
            Outcome::Tell(Told::Refused { because, wait: until.since(now) })
        }
        (Decision::Allow, Allowance::Over(because)) => {
            Outcome::Tell(Told::Refused { because, wait: now.next_day().since(now) })
        }
        (Decision::Allow, Allowance::Ample | Allowance::Tight) => Outcome::Answer,
    }
}

impl Told {
    pub fn in_words(self, notices: &Notices) -> String {
        match self {
            Self::UnknownButton => notices.unknown_button.clone(),
            Self::MembersOnly => notices.members_only.clone(),
            Self::NoLongerKept => notices.no_longer_kept.clone(),
            Self::AnsweredAlready => notices.answered_already.clone(),
            Self::Refused { because, wait } => notices.refused(because, wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{Alternative, AnswerId, AnswerStatus, ChatKey, Matter, Seq, Tell, TokenUse, UserId};

    const NOW: Timestamp = Timestamp::from_secs(1_767_600_000);

    fn record(asked_by: Option<UserId>) -> AnswerRecord {
        AnswerRecord {
            id: AnswerId(ulid::Ulid(1)),
            chat: ChatKey(1),
            thread: None,
            trigger: Seq(9),
            matter: Matter::First,
            asked_by: UserId(1),
            created_at: NOW,
            status: AnswerStatus::Answered,
            text: String::new(),
            anchor: None,
            window: Vec::new(),
            omitted: Vec::new(),
            alternative: Some(Alternative { margin: 0.1, taken: vec![Seq(1)], other: Vec::new(), asked_by }),
            slots: Vec::new(),
            sources: Vec::new(),
            model: String::new(),
            tokens: TokenUse::default(),
            latency_ms: 0,
            uncertainty: None,
            guard_used: false,
        }
    }

    fn facts(answer: Option<&AnswerRecord>) -> Facts<'_> {
        Facts {
            data: OTHER_MATTER,
            is_member: true,
            answer,
            is_kept: true,
            admission: Decision::Allow,
            allowance: Allowance::Ample,
            now: NOW,
        }
    }

    #[track_caller]
    fn check(facts: Facts<'_>, expected: &str) {
        let told = match outcome(&facts) {
            Outcome::Answer => "an answer".to_owned(),
            Outcome::Tell(told) => told.in_words(crate::notices::notices("eng")),
        };
        assert_eq!(told, expected);
    }

    #[test]
    fn the_first_press_is_answered_and_the_second_is_told_so() {
        check(facts(Some(&record(None))), "an answer");
        check(facts(Some(&record(Some(UserId(2))))), "I have already answered about the other conversation.");
    }

    #[test]
    fn what_is_not_kept_and_buttons_of_others_are_told_kindly() {
        let open = record(None);
        check(facts(None), "I no longer have what this button leads to.");
        check(Facts { is_kept: false, ..facts(Some(&open)) }, "I no longer have what this button leads to.");
        check(Facts { data: "settings:7", ..facts(Some(&open)) }, "I no longer know this button. Please tag me again.");
        check(Facts { is_member: false, ..facts(Some(&open)) }, "Only members of this chat can ask me here.");
    }

    #[test]
    fn a_press_counts_as_a_tag() {
        let open = record(None);
        let until = NOW.plus(Duration::from_secs(90));
        let admission = Decision::Refuse { because: Because::Member, until, tell: Tell::Words };
        check(
            Facts { admission, ..facts(Some(&open)) },
            "You have tagged me very often in a short time. Please ask again in 2 minutes.",
        );
        check(
            Facts { allowance: Allowance::Over(Because::DailyTokens), ..facts(Some(&open)) },
            "I have used up my budget for answers today. Please ask again in 16 hours.",
        );
    }
}
