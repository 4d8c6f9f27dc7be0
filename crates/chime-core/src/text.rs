//! Text with Telegram's formatting. Offsets and lengths count UTF-16 units, as Telegram does.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::clip;

/// Maximum number of characters of the address behind a linked word.
const ADDRESS_CHARS: usize = 100;

/// Text, and its formatted ranges sorted by offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormattedText {
    pub text: String,
    pub entities: Vec<Entity>,
}

impl FormattedText {
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), entities: Vec::new() }
    }

    /// Appends `between` and then `other` with its formatting.
    pub fn push(&mut self, between: &str, other: Self) {
        self.text.push_str(between);
        let shift = utf16_len(&self.text);
        self.text.push_str(&other.text);
        let moved = other.entities.into_iter().map(|entity| Entity { offset: entity.offset + shift, ..entity });
        self.entities.extend(moved);
    }
}

/// Formatted range of a text, in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entity {
    pub offset: usize,
    pub length: usize,
    #[serde(flatten)]
    pub kind: EntityKind,
}

/// Kind of a formatted range. Kinds that this version does not know become [`EntityKind::Other`].
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

/// User named in a mention without a username (`text_mention`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRef {
    pub id: super::UserId,
}

/// Returns the web addresses behind linked words of `text`, as ` (https://example.org/menu)`, each with the byte at
/// which its words end. Long ones are shortened; those that the words already show are left out.
pub fn hidden_links(text: &str, entities: &[Entity]) -> Vec<(usize, String)> {
    let hidden = entities.iter().filter_map(|entity| {
        let EntityKind::TextLink { url } = &entity.kind else { return None };
        let address = url.split_once("://").filter(|(scheme, _)| scheme.starts_with("http"))?.1.trim_end_matches('/');
        let words = utf16_slice(text, entity.offset, entity.length);
        let end = text.len() - utf16_slice(text, entity.offset.saturating_add(entity.length), usize::MAX).len();
        (!words.trim().is_empty() && !words.contains(address)).then(|| (end, format!(" ({})", shortened(url))))
    });
    hidden.collect()
}

/// Returns `text` with the result of [`hidden_links`] inserted.
pub fn with_links(text: &str, links: Vec<(usize, String)>) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (end, address) in links.into_iter().rev() {
        text.to_mut().insert_str(end, &address);
    }
    text
}

fn shortened(url: &str) -> Cow<'_, str> {
    let is_short = url.chars().count() <= ADDRESS_CHARS;
    clip(if is_short { url } else { url.split(['?', '#']).next().unwrap_or(url) }, ADDRESS_CHARS)
}

/// Returns the length of `text` in UTF-16 units.
pub fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Returns the part of `text` that starts at `offset` and has `length` UTF-16 units.
///
/// Invalid offsets never panic: bounds outside the text become its start or end, and a bound inside a surrogate pair is
/// moved so that the whole character is included. A `length` of 0 gives an empty string.
pub fn utf16_slice(text: &str, offset: usize, length: usize) -> &str {
    if length == 0 {
        return "";
    }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_address_behind_a_word_follows_it() {
        let shown = |text: &str, links: &[(&str, &str)]| {
            let entity = |&(words, url): &(&str, &str)| Entity {
                offset: utf16_len(&text[..text.find(words).expect("words of the text")]),
                length: utf16_len(words),
                kind: EntityKind::TextLink { url: url.to_owned() },
            };
            let entities: Vec<Entity> = links.iter().map(entity).collect();
            with_links(text, hidden_links(text, &entities)).into_owned()
        };
        let menu = [("menu", "https://a.example/menu"), ("map", "http://b.example/?q=1")];
        let with = "🍕 the menu (https://a.example/menu), the map (http://b.example/?q=1)";
        assert_eq!(shown("🍕 the menu, the map", &menu), with);
        assert_eq!(shown("see a.example", &[("a.example", "https://a.example/")]), "see a.example");
        assert_eq!(shown("ask Ana", &[("Ana", "tg://user?id=5")]), "ask Ana");
        let tracked = format!("https://a.example/menu?utm={}", "x".repeat(200));
        assert_eq!(shown("menu", &[("menu", &tracked)]), "menu (https://a.example/menu)");
        let long = format!("https://a.example/{}", "x".repeat(200));
        assert_eq!(shown("menu", &[("menu", &long)]).chars().count(), "menu ()".len() + ADDRESS_CHARS);
    }

    #[test]
    fn a_slice_counts_utf16_units() {
        assert_eq!(utf16_len("a😀é"), 4);
        assert_eq!(utf16_slice("a😀é", 1, 2), "😀");
        assert_eq!(utf16_slice("a😀é", 3, 1), "é");
    }

    #[test]
    fn bounds_outside_the_text_are_clamped() {
        assert_eq!(utf16_slice("ab", 1, 9), "b");
        assert_eq!(utf16_slice("ab", 5, 1), "");
        assert_eq!(utf16_slice("ab", 1, usize::MAX), "b");
        assert_eq!(utf16_slice("", 0, 1), "");
    }

    #[test]
    fn bounds_inside_a_surrogate_pair_move_outwards() {
        assert_eq!(utf16_slice("😀x", 1, 1), "😀");
        assert_eq!(utf16_slice("x😀", 0, 2), "x😀");
    }

    #[test]
    fn a_slice_without_length_is_empty_even_inside_a_surrogate_pair() {
        assert_eq!(utf16_slice("😀", 1, 0), "");
    }

    #[test]
    fn an_entity_reads_and_writes_as_telegram_has_it() {
        let json = r#"{"offset":0,"length":4,"type":"pre","language":"rust"}"#;
        let entity: Entity = serde_json::from_str(json).unwrap();
        assert_eq!(entity.kind, EntityKind::Pre { language: Some("rust".to_owned()) });
        assert_eq!(serde_json::to_string(&entity).unwrap(), json);
        let unknown: Entity =
            serde_json::from_str(r#"{"offset":0,"length":2,"type":"custom_emoji","custom_emoji_id":"5"}"#).unwrap();
        assert_eq!(unknown.kind, EntityKind::Other);
    }

    proptest! {
        #[test]
        fn a_slice_agrees_with_the_standard_library(text in "[a-zé😀👨\u{200d}\u{301}ש]{0,40}", from in 0..50usize, to in 0..50usize) {
            let bounds: Vec<usize> = text.char_indices().map(|(at, _)| utf16_len(&text[..at])).chain([utf16_len(&text)]).collect();
            let (a, b) = (bounds[from % bounds.len()], bounds[to % bounds.len()]);
            let (start, end) = (a.min(b), a.max(b));
            let units: Vec<u16> = text.encode_utf16().collect();
            prop_assert_eq!(units.len(), utf16_len(&text));
            prop_assert_eq!(utf16_slice(&text, start, end - start), String::from_utf16(&units[start..end]).unwrap());
        }

        #[test]
        fn a_slice_with_any_bounds_is_part_of_the_text_and_never_panics(text in any::<String>(), offset: usize, length: usize) {
            for (offset, length) in [(offset, length), (offset % 64, length % 64), (offset % 64, length)] {
                prop_assert!(text.contains(utf16_slice(&text, offset, length)));
            }
        }
    }
}
