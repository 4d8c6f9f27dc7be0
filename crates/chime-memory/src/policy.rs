//! Decides how a summary is made: chats that do not use the bot cost no model calls.

use std::time::Duration;

/// Time after the last trigger within which a model makes a chat's summaries.
pub const ASKED_LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Age up to which sessions belong to Recent; older ones are folded into History.
pub const RECENT: Duration = Duration::from_secs(28 * 24 * 60 * 60);
/// Maximum number of sessions per fold.
pub const FOLDED_AT_ONCE: u32 = 20;

/// Size of the backlog up to which a model folds. Longer ones, as after an import or a reset of History, are folded
/// verbatim first: otherwise each expired message would cost a year of calls.
pub const FOLDED_BY_A_MODEL: u32 = 2 * FOLDED_AT_ONCE;

/// Limits of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub bullets: usize,
    pub tokens: usize,
}

pub const MINI: Caps = Caps { bullets: 15, tokens: 300 };
pub const RECENT_CAPS: Caps = Caps { bullets: 10, tokens: 800 };
pub const HISTORY_CAPS: Caps = Caps { bullets: 14, tokens: 1200 };
pub const TOPIC_CAPS: Caps = Caps { bullets: 14, tokens: 800 };

pub const RECAP: Caps = Caps { bullets: 12, tokens: 700 };
/// Limits of the summary of a thread's oldest part.
pub const STRAND_CAPS: Caps = Caps { bullets: 8, tokens: 180 };

/// Minimum of messages and tokens for a summary.
const SUBSTANCE_MESSAGES: usize = 3;
const SUBSTANCE_TOKENS: usize = 60;

/// Returns `true` if a session has enough content for a summary.
pub fn has_substance(human_messages: usize, tokens: usize) -> bool {
    human_messages >= SUBSTANCE_MESSAGES && tokens >= SUBSTANCE_TOKENS
}

/// Facts about a chat that decide how a summary is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryConditions {
    /// `true` if neither the operator nor the chat turned summaries off.
    pub is_wanted: bool,
    /// `true` if the bot is in the chat.
    pub is_present: bool,
    pub has_model: bool,
    pub was_asked_lately: bool,
    /// `true` if the chat got the notice that text is sent out for summaries.
    pub was_told: bool,
    /// `true` if the day's tokens suffice. Background work leaves half of them to answers.
    pub has_room: bool,
}

/// Way to make a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// No summary.
    Nothing,
    /// Verbatim from the messages, until a model may be asked.
    Extract,
    Model,
}

impl SummaryConditions {
    pub fn means(self) -> Means {
        if !self.is_wanted || !self.is_present {
            Means::Nothing
        } else if self.has_model && self.was_asked_lately && self.was_told && self.has_room {
            Means::Model
        } else {
            Means::Extract
        }
    }

    /// Returns `true` if only the privacy notice is missing before a model may be asked.
    pub fn must_be_told(self) -> bool {
        Self { was_told: true, ..self }.means() == Means::Model && !self.was_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: SummaryConditions = SummaryConditions {
        is_wanted: true,
        is_present: true,
        has_model: true,
        was_asked_lately: true,
        was_told: true,
        has_room: true,
    };

    #[test]
    fn a_model_is_asked_where_nothing_speaks_against_it() {
        assert_eq!(ALL.means(), Means::Model);
        for lacking in [
            SummaryConditions { has_model: false, ..ALL },
            SummaryConditions { was_asked_lately: false, ..ALL },
            SummaryConditions { was_told: false, ..ALL },
            SummaryConditions { has_room: false, ..ALL },
        ] {
            assert_eq!(lacking.means(), Means::Extract, "{lacking:?}");
        }
        for lacking in [SummaryConditions { is_wanted: false, ..ALL }, SummaryConditions { is_present: false, ..ALL }] {
            assert_eq!(lacking.means(), Means::Nothing, "{lacking:?}");
        }
    }

    #[test]
    fn a_chat_is_told_when_that_is_all_that_is_missing() {
        assert!(SummaryConditions { was_told: false, ..ALL }.must_be_told());
        assert!(!ALL.must_be_told());
        assert!(!SummaryConditions { was_told: false, has_model: false, ..ALL }.must_be_told());
    }
}
