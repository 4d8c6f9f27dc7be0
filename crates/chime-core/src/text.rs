//! Text with Telegram's formatting. Offsets and lengths count UTF-16 units, as Telegram does.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{clip, is_unspaced};

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

/// Marks around a spoiler in Markdown.
const BARS: &str = "||";
/// Stands for the words of a spoiler.
const COVER: &str = "▒▒▒";

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

/// Returns the bars around the spoilers of `text`, as in Markdown, each with its byte position. They are set around
/// whole words, since bars inside a word are plain text.
pub fn spoiler_bars(text: &str, entities: &[Entity]) -> Vec<(usize, String)> {
    let spoilers = entities.iter().filter(|entity| entity.kind == EntityKind::Spoiler).filter_map(|entity| {
        let (start, end) = (entity.offset, entity.offset.saturating_add(entity.length));
        let (start, end) = (byte_at(text, start, Round::Down), byte_at(text, end, Round::Up));
        let hidden = text.get(start..end)?.trim_end();
        let (end, hidden) = (start + hidden.len(), hidden.trim_start());
        let start = end - hidden.len();
        let before = text[..start].trim_end_matches(|c: char| hidden.starts_with(is_in_word) && is_in_word(c));
        let after = text[end..].trim_start_matches(|c: char| hidden.ends_with(is_in_word) && is_in_word(c));
        (!hidden.is_empty()).then(|| before.len()..text.len() - after.len())
    });
    let mut bars: Vec<usize> = Vec::new();
    for spoiler in spoilers {
        match bars.last_mut() {
            Some(end) if spoiler.start <= *end => *end = spoiler.end.max(*end),
            _ => bars.extend([spoiler.start, spoiler.end]),
        }
    }
    bars.into_iter().map(|at| (at, BARS.to_owned())).collect()
}

/// Replaces the words between spoiler bars, for a text of which a part may be cut off or which everybody gets to see.
pub fn covered(text: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(spoiler) = next_spoiler(rest) {
        shown.push_str(&rest[..spoiler.start]);
        shown.push_str(COVER);
        rest = &rest[spoiler.end..];
    }
    if shown.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(shown + rest) }
}

pub fn has_spoiler(text: &str) -> bool {
    next_spoiler(text).is_some()
}

/// Returns the first bars with the words between them. The bars of `a || b` and `a||b` are none.
fn next_spoiler(text: &str) -> Option<Range<usize>> {
    let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let is_apart = |c: Option<char>| !c.is_some_and(is_in_word);
    let around = |at: usize| (text[..at].chars().next_back(), text[at + BARS.len()..].chars().next());
    let places: Vec<usize> = text.match_indices(BARS).map(|(at, _)| at).collect();
    let opens = |(_, start): &(usize, &usize)| {
        let (before, after) = around(**start);
        is_apart(before) && !is_space(after)
    };
    places.iter().enumerate().filter(opens).find_map(|(number, start)| {
        let closes = |end: &&usize| {
            let (before, after) = around(**end);
            **end > start + BARS.len() && !is_space(before) && is_apart(after)
        };
        Some(*start..places[number + 1..].iter().find(closes)? + BARS.len())
    })
}

/// Returns `true` for letters and digits of scripts that separate words by spaces: bars between them are no marks.
pub fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

/// Returns `text` with the results of [`hidden_links`] and [`spoiler_bars`] inserted, sorted by their positions.
pub fn with_marks(text: &str, marks: Vec<(usize, String)>) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (at, mark) in marks.into_iter().rev() {
        text.to_mut().insert_str(at, &mark);
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

/// Escapes the characters that have a meaning in Markdown.
pub fn escape_marks(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~')
                .then_some('\\')
                .into_iter()
                .chain([c])
        })
        .collect()
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
            with_marks(text, hidden_links(text, &entities)).into_owned()
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
    fn spoilers_have_bars_and_can_be_covered() {
        let check = |text: &str, spoilers: &[&str], barred: &str, hidden: &str| {
            let entity = |words: &&str| Entity {
                offset: utf16_len(&text[..text.find(words).expect("words of the text")]),
                length: utf16_len(words),
                kind: EntityKind::Spoiler,
            };
            let entities: Vec<Entity> = spoilers.iter().map(entity).collect();
            let marked = with_marks(text, spoiler_bars(text, &entities));
            assert_eq!((&*marked, &*covered(&marked)), (barred, hidden));
        };
        check("😀 it was James.", &["James"], "😀 it was ||James||.", "😀 it was ▒▒▒.");
        check("It was the butler.", &[" the but"], "It was ||the butler||.", "It was ▒▒▒.");
        check("It was a || b, c", &["a || b", ", c"], "It was ||a || b, c||", "It was ▒▒▒");
        check("if (a || b || c) x||y||z", &[], "if (a || b || c) x||y||z", "if (a || b || c) x||y||z");
        check("one two three", &["one", "three"], "||one|| two ||three||", "▒▒▒ two ▒▒▒");
        check("犯人は田中です", &["田中"], "犯人は||田中||です", "犯人は▒▒▒です");
        check("no words", &[" "], "no words", "no words");
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
