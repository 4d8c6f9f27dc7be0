//! Text with Telegram's formatting. Offsets and lengths count UTF-16 units, as Telegram does.

use serde::{Deserialize, Serialize};

/// Text and the entities over it, sorted by offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormattedText {
    pub text: String,
    pub entities: Vec<Entity>,
}

impl FormattedText {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }
}

/// A stretch of text with a meaning, in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    pub offset: usize,
    pub length: usize,
    #[serde(flatten)]
    pub kind: EntityKind,
}

/// What a stretch of text is. Kinds newer than this program are kept as [`EntityKind::Other`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EntityKind {
    Mention,
    TextMention {
        user: UserRef,
    },
    TextLink {
        url: String,
    },
    BotCommand,
    Bold,
    Italic,
    Underline,
    Strikethrough,
    Spoiler,
    Code,
    Pre {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    },
    Blockquote,
    ExpandableBlockquote,
    Url,
    Email,
    Hashtag,
    #[serde(other)]
    Other,
}

/// The part of a user that a `text_mention` needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRef {
    pub id: super::UserId,
}

/// Length of `text` in UTF-16 units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The part of `text` from `offset` for `length` UTF-16 units.
///
/// Bounds are clamped to the text, and a bound inside a surrogate pair moves outwards: bad offsets from outside give
/// a sensible slice and never a panic.
pub fn utf16_slice(text: &str, offset: usize, length: usize) -> &str {
    let start = byte_at(text, offset, Round::Down);
    let end = byte_at(text, offset.saturating_add(length), Round::Up);
    text.get(start..end.max(start)).unwrap_or_default()
}

enum Round {
    Down,
    Up,
}

fn byte_at(text: &str, units: usize, round: Round) -> usize {
    let mut seen = 0;
    for (index, c) in text.char_indices() {
        if seen >= units {
            return index;
        }
        seen += c.len_utf16();
        if seen > units {
            return match round {
                Round::Down => index,
                Round::Up => index + c.len_utf8(),
            };
        }
    }
    text.len()
}
