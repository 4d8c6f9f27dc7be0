//! What an answer may cite, and what other rooms add to a prompt.

use std::fmt;

use super::{Seq, Timestamp};

/// The kinds of sources. Each counts from 1 in its chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    Message,
    /// Of a session.
    Summary,
    /// A text that the chat saved.
    Note,
}

/// A source as the model cites it: `m17`, `s5`, `n2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId {
    pub kind: SourceKind,
    pub number: u32,
}

impl SourceId {
    pub fn message(number: u32) -> Self {
        Self { kind: SourceKind::Message, number }
    }

    pub fn summary(number: u32) -> Self {
        Self { kind: SourceKind::Summary, number }
    }

    pub fn note(number: u32) -> Self {
        Self { kind: SourceKind::Note, number }
    }

    /// Reads `m17`; letters of either case.
    pub fn parse(raw: &str) -> Option<Self> {
        let kind = match raw.chars().next()? {
            'm' | 'M' => SourceKind::Message,
            's' | 'S' => SourceKind::Summary,
            'n' | 'N' => SourceKind::Note,
            _ => return None,
        };
        let digits = &raw[1..];
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten().map(|number| Self { kind, number })
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.kind {
            SourceKind::Message => 'm',
            SourceKind::Summary => 's',
            SourceKind::Note => 'n',
        };
        write!(f, "{letter}{}", self.number)
    }
}

/// A source that an answer may cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citable {
    pub id: SourceId,
    /// Who wrote it, or what it is called.
    pub name: String,
    pub sent_at: Timestamp,
    pub text: String,
    /// Its address, where Telegram has one.
    pub link: Option<String>,
    /// Of a summary or a note: the messages it rests on, most telling first. Whoever cites it is led to them.
    pub rests_on: Vec<Grounds>,
}

/// A message that a summary or a note rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grounds {
    pub message: Seq,
    pub name: String,
    pub sent_at: Timestamp,
    pub link: Option<String>,
}

/// The parts of a prompt, in the order in which they stand in it. An empty slot is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    Role,
    ChatRecent,
    ChatHistory,
    ChatTopic,
    Concepts,
    Recall,
    Frame,
    Context,
    Ask,
}

/// Tokens of an answer whose prompt has every slot full, with what the model writes: the default daily caps are so many
/// times this.
pub const FULL_ANSWER_TOKENS: u64 = 7_000;

impl Slot {
    /// Slots that give way when a prompt is too long for the model, the first of them first. Role and ask never do, and
    /// the context has a budget of its own.
    pub const SACRIFICE: [Self; 6] =
        [Self::Recall, Self::ChatHistory, Self::ChatTopic, Self::ChatRecent, Self::Concepts, Self::Frame];

    pub fn name(self) -> &'static str {
        match self {
            Self::Role => "system.role",
            Self::ChatRecent => "system.chat.recent",
            Self::ChatHistory => "system.chat.history",
            Self::ChatTopic => "system.chat.topic",
            Self::Concepts => "system.concepts",
            Self::Recall => "system.recall",
            Self::Frame => "system.frame",
            Self::Context => "context",
            Self::Ask => "ask",
        }
    }

    /// In tokens. None for what never gives way, and for the context, whose cap is a setting.
    pub fn cap(self) -> Option<usize> {
        match self {
            Self::ChatRecent | Self::ChatTopic => Some(800),
            Self::ChatHistory => Some(1200),
            Self::Concepts | Self::Frame => Some(300),
            Self::Recall => Some(1000),
            Self::Role | Self::Context | Self::Ask => None,
        }
    }

    /// Whether it stands in the system message.
    pub fn in_system(self) -> bool {
        self < Self::Context
    }
}

/// What other rooms add to a prompt: memory, notes, concepts, the reading of a follow-up. Never needed for an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrichment {
    /// In any order; pieces of one slot stand in the order given.
    pub pieces: Vec<Piece>,
}

/// Lines for one slot. What members wrote is made safe where the prompt is put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub slot: Slot,
    /// Of [`Slot::ChatTopic`]: the topic's slug.
    pub topic: Option<String>,
    /// The most important first: a slot over its cap loses its last lines.
    pub lines: Vec<PieceLine>,
}

/// A line of a slot, and what may be cited because it stands there. The line itself shows the source's id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PieceLine {
    pub text: String,
    pub source: Option<Citable>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_by_a_letter_and_a_number() {
        for id in [SourceId::message(17), SourceId::summary(5), SourceId::note(2)] {
            assert_eq!(SourceId::parse(&id.to_string()), Some(id));
        }
        assert_eq!(SourceId::parse("M17"), Some(SourceId::message(17)));
        for raw in ["", "m", "17", "u1", "m1x", "m99999999999", "ü1", "m+1"] {
            assert_eq!(SourceId::parse(raw), None, "{raw}");
        }
    }
}
