//! Sources that an answer may cite, and the slots (parts) of a prompt.

use std::fmt;

use super::{Chat, Role, Seq, StoredMessage, Timestamp, message_link};

/// Declares the kinds of sources, each with the letter of its ids.
macro_rules! source_kinds {
    ($($(#[$doc:meta])* $kind:ident $letter:literal,)*) => {
        /// Kind of a source. Within a chat, the sources of a kind are numbered from 1.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum SourceKind { $($(#[$doc])* $kind,)* }

        impl SourceKind {
            const ALL: &[Self] = &[$(Self::$kind,)*];

            pub fn letter(self) -> &'static str {
                match self { $(Self::$kind => $letter,)* }
            }
        }

        impl SourceId {
            /// Regular expression for an id in a text, ignoring case.
            pub const PATTERN: &str = concat!("(?:[", $($letter,)* "][0-9]{1,9}|d[0-9]{1,9}p[0-9]{1,5})");
        }
    };
}

source_kinds! {
    Message "m",
    /// Summary of a session.
    Summary "s",
    /// Text that a member saved with `/note`.
    Note "n",
    /// Web page that a member linked to.
    Page "p",
    /// File that a member posted, or a page of it.
    Document "d",
    /// Result of a web search.
    Web "w",
}

/// Source id as the model cites it: `m17`, `s5`, `n2`, `p1`, `d3`, `d3p4`, `w1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId {
    pub kind: SourceKind,
    pub number: u32,
    /// For a document with pages: the page, counted from 1.
    pub page: Option<u32>,
}

impl SourceId {
    pub fn new(kind: SourceKind, number: u32) -> Self {
        Self { kind, number, page: None }
    }

    pub fn message(number: u32) -> Self {
        Self::new(SourceKind::Message, number)
    }

    pub fn summary(number: u32) -> Self {
        Self::new(SourceKind::Summary, number)
    }

    /// Returns the message that the source id `raw` names, or the first message of the summary that it names.
    pub fn message_of(raw: &str) -> Option<Seq> {
        let id = Self::parse(raw)?;
        matches!(id.kind, SourceKind::Message | SourceKind::Summary).then_some(Seq(id.number))
    }

    /// Parses an id such as `m17`, ignoring case.
    pub fn parse(raw: &str) -> Option<Self> {
        let (letter, rest) = raw.split_at_checked(1)?;
        let kind = *SourceKind::ALL.iter().find(|kind| kind.letter().eq_ignore_ascii_case(letter))?;
        let number = |digits: &str| digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()));
        match rest.split_once(['p', 'P']) {
            Some((digits, page)) if kind == SourceKind::Document => {
                Some(Self { page: Some(number(page)?), ..Self::new(kind, number(digits)?) })
            }
            _ => Some(Self::new(kind, number(rest)?)),
        }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.number)?;
        self.page.map_or(Ok(()), |page| write!(f, "p{page}"))
    }
}

/// Source in a prompt, with all that a citation of it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citable {
    pub id: SourceId,
    /// Author of a message, or title of another source.
    pub name: String,
    /// `true` for a message of the bot itself, which supports no sentence of an answer.
    pub is_own: bool,
    pub sent_at: Timestamp,
    pub text: String,
    /// Link to the message in Telegram, or to a result of a web search; `None` if there is none.
    pub link: Option<String>,
    /// The messages on which it is based, the most informative first. Citations link to them.
    pub rests_on: Vec<SourceMessage>,
}

/// Message on which another source is based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMessage {
    pub message: Seq,
    pub name: String,
    /// `true` if the bot wrote it.
    pub is_own: bool,
    pub sent_at: Timestamp,
    pub link: Option<String>,
}

impl SourceMessage {
    pub fn of(chat: &Chat, StoredMessage { seq, message, .. }: &StoredMessage) -> Self {
        let (name, link) = (message.sender.name.clone(), message_link(chat, message));
        Self { message: *seq, name, is_own: message.role == Role::Assistant, sent_at: message.sent_at, link }
    }
}

/// Part of a prompt. The variants are in the order of the prompt; empty parts are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    Role,
    /// Manner of writing that admins chose.
    Persona,
    ChatRecent,
    ChatHistory,
    ChatTopic,
    Concepts,
    Recall,
    /// Text that was read for this answer, such as a linked page or a document.
    Material,
    Frame,
    Context,
    Ask,
}

crate::words!(Slot {
    Role = "system.role", Persona = "system.persona", ChatRecent = "system.chat.recent",
    ChatHistory = "system.chat.history", ChatTopic = "system.chat.topic", Concepts = "system.concepts",
    Recall = "system.recall", Material = "system.material", Frame = "system.frame", Context = "context", Ask = "ask",
});

/// Tokens of one answer, prompt and output together, if all slots of the prompt are full. The default daily caps are
/// multiples of it.
pub const FULL_ANSWER_TOKENS: u64 = 7_000;

impl Slot {
    /// Slots that are left out, in this order, until the prompt fits into the model's context. `Role`, `Persona` and
    /// `Ask` are always included, and `Context` has its own limit.
    pub const DROP_ORDER: [Self; 7] = [
        Self::Recall,
        Self::ChatHistory,
        Self::ChatTopic,
        Self::ChatRecent,
        Self::Concepts,
        Self::Frame,
        Self::Material,
    ];

    /// Returns the largest size of the slot in tokens. `None` for `Role`, `Persona` and `Ask`, which have no limit, and
    /// for `Context`, whose limit is a setting.
    pub fn cap(self) -> Option<usize> {
        match self {
            Self::ChatRecent | Self::ChatTopic => Some(800),
            Self::ChatHistory => Some(1200),
            Self::Concepts => Some(300),
            Self::Recall | Self::Frame => Some(1000),
            Self::Material => Some(1500),
            Self::Role | Self::Persona | Self::Context | Self::Ask => None,
        }
    }

    pub fn in_system(self) -> bool {
        self < Self::Context
    }
}

/// Optional parts of a prompt: memory, notes, concepts, facts about a follow-up question. An answer is possible without
/// them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Enrichment {
    /// Pieces in any order. If several have the same slot, they appear in it in this order.
    pub pieces: Vec<Piece>,
}

/// Lines for one slot. The text is not escaped yet; that happens when the prompt is assembled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub slot: Slot,
    /// For [`Slot::ChatTopic`]: name of the topic, such as `lake-trip`.
    pub topic: Option<String>,
    /// Lines, the most important first: if the slot gets too large, its last lines are left out.
    pub lines: Vec<PieceLine>,
}

/// Line of a slot with the source that it makes citable. The text already contains the source id.
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
        let page = SourceId { page: Some(4), ..SourceId::new(SourceKind::Document, 3) };
        for id in SourceKind::ALL.iter().map(|kind| SourceId::new(*kind, 17)).chain([page]) {
            assert_eq!(SourceId::parse(&id.to_string()), Some(id));
        }
        assert_eq!(SourceId::parse("M17"), Some(SourceId::message(17)));
        for raw in ["", "m", "17", "u1", "m1x", "m99999999999", "ü1", "m+1", "m3p4", "d3p", "dp4"] {
            assert_eq!(SourceId::parse(raw), None, "{raw}");
        }
    }
}
