//! Extracts a range of formatted text in a form that Telegram accepts.

use std::cmp::Reverse;
use std::ops::Range;

use chime_core::{Entity, EntityKind, FormattedText, is_blank, utf16_len};

/// Telegram's limit on entities per message; it ignores the rest.
pub const MAX_ENTITIES: usize = 100;

/// Returns the part of `text` inside `range` (bytes), without surrounding white space.
///
/// Entities are cut at the edges, shrunk to exclude white space, dropped if nothing visible remains, sorted (outer
/// before inner), and limited to [`MAX_ENTITIES`]: the first ones, but links before mere styles. Without anything
/// visible, the result is empty.
pub(super) fn clip(text: &FormattedText, range: Range<usize>) -> FormattedText {
    let spans = spans(text);
    let text = text.text.as_str();
    let Some(kept) = without_margins(text, range, &spans) else {
        return FormattedText::default();
    };
    let mut spans: Vec<ByteSpan<'_>> = spans.into_iter().filter_map(|span| span.within(text, &kept)).collect();
    let place = |span: &ByteSpan<'_>| (span.start, Reverse(span.end));
    spans.sort_by_key(|span| (is_style(span.kind), place(span)));
    spans.truncate(MAX_ENTITIES);
    spans.sort_by_key(place);
    let entities = spans
        .into_iter()
        .map(|span| Entity {
            offset: utf16_len(&text[kept.start..span.start]),
            length: utf16_len(&text[span.start..span.end]),
            kind: span.kind.clone(),
        })
        .collect();
    FormattedText { text: text[kept].to_owned(), entities }
}

/// Returns `true` for formatting without which a text still says and proves the same.
fn is_style(kind: &EntityKind) -> bool {
    use EntityKind::{Bold, Code, Italic, Strikethrough, Underline};
    matches!(kind, Bold | Italic | Underline | Strikethrough | Code)
}

/// Returns the range of `text` without surrounding white space, in bytes.
pub(super) fn visible_part(text: &FormattedText) -> Range<usize> {
    without_margins(&text.text, 0..text.text.len(), &spans(text)).unwrap_or_default()
}

struct ByteSpan<'a> {
    start: usize,
    end: usize,
    kind: &'a EntityKind,
}

fn spans(text: &FormattedText) -> Vec<ByteSpan<'_>> {
    let offsets = Offsets::of(&text.text);
    text.entities
        .iter()
        .map(|entity| ByteSpan {
            start: offsets.byte(entity.offset),
            end: offsets.byte(entity.offset.saturating_add(entity.length)),
            kind: &entity.kind,
        })
        .collect()
}

impl ByteSpan<'_> {
    fn within(self, text: &str, kept: &Range<usize>) -> Option<Self> {
        let start = self.start.max(kept.start);
        let end = self.end.min(kept.end);
        let words = text.get(start..end)?.trim_end();
        // Keeps the indentation of the first line of code, and of a quote that starts with code.
        let inner = match self.kind {
            EntityKind::Pre { .. } | EntityKind::Blockquote | EntityKind::ExpandableBlockquote => {
                words.trim_start_matches('\n')
            }
            _ => words.trim_start(),
        };
        let start = start + words.len() - inner.len();
        (!is_blank(inner)).then_some(Self { start, end: start + inner.len(), kind: self.kind })
    }
}

/// Returns `range` without surrounding white space, or `None` if nothing visible remains.
///
/// A code block at the start keeps the indentation of its first line: Telegram removes white space only before the
/// first entity.
fn without_margins(text: &str, range: Range<usize>, spans: &[ByteSpan<'_>]) -> Option<Range<usize>> {
    let part = text.get(range.clone()).filter(|part| !is_blank(part))?;
    let end = range.start + part.trim_end().len();
    let visible = range.end - part.trim_start().len();
    let in_code =
        |span: &&ByteSpan<'_>| matches!(span.kind, EntityKind::Pre { .. }) && (span.start..span.end).contains(&visible);
    let start = spans.iter().find(in_code).map_or(visible, |code| {
        let line = text[..visible].rfind('\n').map_or(0, |newline| newline + 1);
        line.max(code.start).max(range.start)
    });
    Some(start..end)
}

/// Byte offsets of the UTF-16 units of a text. The second half of a surrogate pair has the offset of the first.
struct Offsets {
    starts: Vec<usize>,
    end: usize,
}

impl Offsets {
    fn of(text: &str) -> Self {
        let starts = text.char_indices().flat_map(|(at, c)| std::iter::repeat_n(at, c.len_utf16())).collect();
        Self { starts, end: text.len() }
    }

    fn byte(&self, units: usize) -> usize {
        self.starts.get(units).copied().unwrap_or(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(offset: usize, length: usize, kind: EntityKind) -> Entity {
        Entity { offset, length, kind }
    }

    fn whole(text: &str, entities: Vec<Entity>) -> FormattedText {
        clip(&FormattedText { text: text.to_owned(), entities }, 0..text.len())
    }

    #[test]
    fn white_space_around_text_and_entities_is_dropped() {
        let clipped = whole(" \n😀 bold \n", vec![entity(0, 11, EntityKind::Bold)]);
        assert_eq!(clipped.text, "😀 bold");
        assert_eq!(clipped.entities, [entity(0, 7, EntityKind::Bold)]);
    }

    #[test]
    fn code_that_comes_first_keeps_its_indentation() {
        let pre = EntityKind::Pre { language: None };
        let clipped = whole("\n    return x\n", vec![entity(0, 14, pre.clone())]);
        assert_eq!(clipped.text, "    return x");
        assert_eq!(clipped.entities, [entity(0, 12, pre)]);
    }

    #[test]
    fn entities_over_nothing_visible_are_dropped() {
        let clipped = whole("a \u{200B} b", vec![entity(1, 3, EntityKind::Bold), entity(9, 4, EntityKind::Bold)]);
        assert_eq!(clipped, FormattedText::plain("a \u{200B} b"));
    }

    #[test]
    fn a_stretch_without_anything_visible_is_empty() {
        assert_eq!(whole(" \u{2060}\u{FEFF}\n", vec![entity(0, 2, EntityKind::Code)]), FormattedText::default());
    }

    #[test]
    fn the_first_hundred_entities_are_kept_outer_before_inner() {
        let text = "x".repeat(300);
        let mut entities: Vec<Entity> = (0..150).rev().map(|at| entity(at * 2, 1, EntityKind::Italic)).collect();
        entities.push(entity(0, 300, EntityKind::Bold));
        let clipped = whole(&text, entities);
        assert_eq!(clipped.entities.len(), MAX_ENTITIES);
        assert_eq!(clipped.entities[0], entity(0, 300, EntityKind::Bold));
        assert_eq!(clipped.entities[99], entity(98 * 2, 1, EntityKind::Italic));
    }

    #[test]
    fn a_long_list_loses_styles_before_links() {
        let link = || EntityKind::TextLink { url: "https://example.org/".to_owned() };
        let line = |at: usize| [entity(at * 4, 1, EntityKind::Bold), entity(at * 4 + 2, 1, link())];
        let clipped = whole(&"x".repeat(240), (0..60).flat_map(line).collect());
        assert_eq!(clipped.entities.iter().filter(|it| it.kind == link()).count(), 60);
        assert_eq!(clipped.entities[..4], [line(0), line(1)].concat());
        assert_eq!(clipped.entities.last(), Some(&entity(238, 1, link())));
    }
}
