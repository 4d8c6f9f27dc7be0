//! Decides whether a chat or a session gets a summary, and whether a model or an extract makes it. Chats that do not
//! use the bot cost no model calls.

use std::time::Duration;

use chime_core::SummaryMethod;

/// A model makes a chat's summaries only if a member has addressed the bot within this time.
pub const ASKED_LATELY: Duration = Duration::from_hours(7 * 24);
/// Age up to which the summaries of sessions are part of Recent. Older ones are merged (“folded”) into History.
pub const RECENT: Duration = Duration::from_hours(28 * 24);
/// A task or a question that is older than this no longer counts as open.
pub const OPEN_FOR: Duration = Duration::from_hours(60 * 24);
/// The same for one that names no day.
pub const UNDATED_OPEN_FOR: Duration = Duration::from_hours(14 * 24);
/// Maximum number of sessions that are merged into History at once.
pub const FOLDED_AT_ONCE: u32 = 20;

/// Maximum number of sessions waiting for History that a model merges. If more wait, as after an import or a reset of
/// History, extracts are merged instead: each expired message resets History, and would otherwise cost the model calls
/// of a whole year.
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
/// Limits of a summary of the oldest part of a long thread.
pub const THREAD_CAPS: Caps = Caps { bullets: 8, tokens: 180 };

/// Minimum number of members' messages, and of their tokens, for a summary of a session.
pub const SUBSTANCE_MESSAGES: usize = 3;
const SUBSTANCE_TOKENS: usize = 60;

/// Returns `true` if a session has enough content to be summarized.
pub fn has_substance(human_messages: usize, tokens: usize) -> bool {
    human_messages >= SUBSTANCE_MESSAGES && tokens >= SUBSTANCE_TOKENS
}

/// Facts about a chat that decide how a summary is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryConditions {
    /// `true` if neither the operator nor the chat has turned summaries off.
    pub is_wanted: bool,
    /// `true` if the bot is in the chat.
    pub is_present: bool,
    pub has_model: bool,
    pub was_asked_lately: bool,
    /// `true` if the chat got the notice that its messages are sent to a model for summaries.
    pub was_told: bool,
    /// `true` if enough tokens of the daily budget are left: background work may use half of it, the rest is for
    /// answers.
    pub has_room: bool,
}

impl SummaryConditions {
    /// Returns how a summary is made, or `None` if there is none. A model may replace an extract later.
    pub fn method(self) -> Option<SummaryMethod> {
        let has_model = self.has_model && self.was_asked_lately && self.was_told && self.has_room;
        let method = if has_model { SummaryMethod::Model } else { SummaryMethod::Extract };
        (self.is_wanted && self.is_present).then_some(method)
    }

    /// Returns `true` if a model could make the summaries as soon as the chat has got the privacy notice.
    pub fn must_be_told(self) -> bool {
        Self { was_told: true, ..self }.method() == Some(SummaryMethod::Model) && !self.was_told
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
        assert_eq!(ALL.method(), Some(SummaryMethod::Model));
        for lacking in [
            SummaryConditions { has_model: false, ..ALL },
            SummaryConditions { was_asked_lately: false, ..ALL },
            SummaryConditions { was_told: false, ..ALL },
            SummaryConditions { has_room: false, ..ALL },
        ] {
            assert_eq!(lacking.method(), Some(SummaryMethod::Extract), "{lacking:?}");
        }
        for lacking in [SummaryConditions { is_wanted: false, ..ALL }, SummaryConditions { is_present: false, ..ALL }] {
            assert_eq!(lacking.method(), None, "{lacking:?}");
        }
    }

    #[test]
    fn a_chat_is_told_when_that_is_all_that_is_missing() {
        assert!(SummaryConditions { was_told: false, ..ALL }.must_be_told());
        assert!(!ALL.must_be_told());
        assert!(!SummaryConditions { was_told: false, has_model: false, ..ALL }.must_be_told());
    }
}
