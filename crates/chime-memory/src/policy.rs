//! By what means a summary is made: nobody pays for chats that nobody asks.

use std::time::Duration;

/// A chat that was not tagged for this long waits for its summaries until it is.
pub const ASKED_LATELY: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Sessions that ended within this are Recent; older ones are folded into History.
pub const RECENT: Duration = Duration::from_secs(28 * 24 * 60 * 60);
/// Sessions that are folded into History at once, at most.
pub const FOLDED_AT_ONCE: u32 = 20;

/// Of a longer backlog, as after an import or when History is folded anew, only the last steps ask a model: what tells most
/// is carried over to them word for word. Otherwise each message that expires would cost a year's worth of calls.
pub const FOLDED_BY_A_MODEL: u32 = 2 * FOLDED_AT_ONCE;

/// Caps of what a summary may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub bullets: usize,
    pub tokens: usize,
}

pub const MINI: Caps = Caps { bullets: 15, tokens: 300 };
pub const RECENT_CAPS: Caps = Caps { bullets: 10, tokens: 800 };
pub const HISTORY_CAPS: Caps = Caps { bullets: 14, tokens: 1200 };
pub const TOPIC_CAPS: Caps = Caps { bullets: 14, tokens: 800 };

/// What somebody reads who was away.
pub const RECAP: Caps = Caps { bullets: 12, tokens: 700 };
/// What a summary of a long strand's oldest part may hold.
pub const STRAND_CAPS: Caps = Caps { bullets: 8, tokens: 180 };

/// A session with less of either has no substance: it gets no summary.
const SUBSTANCE_MESSAGES: usize = 3;
const SUBSTANCE_TOKENS: usize = 60;

/// Whether a session says enough for a summary.
pub fn has_substance(human_messages: usize, tokens: usize) -> bool {
    human_messages >= SUBSTANCE_MESSAGES && tokens >= SUBSTANCE_TOKENS
}

/// How a chat stands when a summary is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// By the operator's setting and by the chat's own.
    pub is_wanted: bool,
    /// The bot is in the chat.
    pub is_present: bool,
    pub has_model: bool,
    pub was_asked_lately: bool,
    /// The chat knows that text goes out for summaries.
    pub was_told: bool,
    /// Within the day's tokens, of which background work leaves half to answers.
    pub has_room: bool,
}

/// By what means a summary is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Not at all.
    Nothing,
    /// From the messages themselves, until a model may be asked.
    Extract,
    Model,
}

impl Standing {
    pub fn means(self) -> Means {
        if !self.is_wanted || !self.is_present {
            Means::Nothing
        } else if self.has_model && self.was_asked_lately && self.was_told && self.has_room {
            Means::Model
        } else {
            Means::Extract
        }
    }

    /// Whether the chat has to be told before a model may be asked.
    pub fn must_be_told(self) -> bool {
        Self { was_told: true, ..self }.means() == Means::Model && !self.was_told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Standing = Standing {
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
            Standing { has_model: false, ..ALL },
            Standing { was_asked_lately: false, ..ALL },
            Standing { was_told: false, ..ALL },
            Standing { has_room: false, ..ALL },
        ] {
            assert_eq!(lacking.means(), Means::Extract, "{lacking:?}");
        }
        for lacking in [Standing { is_wanted: false, ..ALL }, Standing { is_present: false, ..ALL }] {
            assert_eq!(lacking.means(), Means::Nothing, "{lacking:?}");
        }
    }

    #[test]
    fn a_chat_is_told_when_that_is_all_that_is_missing() {
        assert!(Standing { was_told: false, ..ALL }.must_be_told());
        assert!(!ALL.must_be_told());
        assert!(!Standing { was_told: false, has_model: false, ..ALL }.must_be_told());
    }
}
