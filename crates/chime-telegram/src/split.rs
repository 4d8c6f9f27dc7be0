//! Splits a long text into messages that Telegram accepts.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::clip::{clip, visible_part};
use chime_core::{FormattedText, is_blank, utf16_len};

/// Longest message in UTF-16 units. This also satisfies the limit of 32 KiB: a unit has at most three bytes.
pub const MAX_UNITS: usize = 4096;

/// Maximum number of messages for one answer: more would flood the chat.
pub const MAX_PARTS: usize = 5;

/// Last line of an answer that exceeds [`MAX_PARTS`].
pub const CUT_NOTICE: &str = "… (cut: the answer was too long)";

/// Splits `text` into parts of at most [`MAX_UNITS`], each with its entities.
///
/// Cuts after a paragraph, else after a line, a sentence, a word or a grapheme; inside a grapheme only if it is too
/// long by itself. Drops white space at a cut, and replaces the text beyond [`MAX_PARTS`] by [`CUT_NOTICE`]. Text
/// without anything visible gives no parts.
pub fn split(text: &FormattedText) -> Vec<FormattedText> {
    let visible = visible_part(text);
    let source = &text.text[..visible.end];
    let mut parts = Vec::new();
    let mut start = visible.start;
    while !is_blank(&source[start..]) {
        let end = cut_after(source, start, MAX_UNITS);
        if parts.len() + 1 == MAX_PARTS && !is_blank(&source[end..]) {
            parts.push(last_part(text, start));
            break;
        }
        let part = clip(text, start..end);
        if !part.text.is_empty() {
            parts.push(part);
        }
        start = end;
    }
    parts
}

fn last_part(text: &FormattedText, start: usize) -> FormattedText {
    let ending = format!("\n\n{CUT_NOTICE}");
    let end = cut_after(&text.text, start, MAX_UNITS - utf16_len(&ending));
    let part = clip(text, start..end);
    if part.text.is_empty() {
        return FormattedText::plain(CUT_NOTICE);
    }
    FormattedText { text: part.text + &ending, entities: part.entities }
}

/// Returns the byte position at which the part that starts at `start` ends. Always greater than `start`.
fn cut_after(text: &str, start: usize, max_units: usize) -> usize {
    // Leading white space is dropped later and does not count, except indentation on the same line, which code needs.
    let leading = &text[start..text.len() - text[start..].trim_start().len()];
    let first = start + leading.rfind('\n').map_or(0, |newline| newline + 1);
    let full = first + prefix(&text[first..], max_units).len();
    let reach = text.len() - text[full..].trim_start().len();
    if reach == text.len() {
        return reach;
    }
    let least = first + prefix(&text[first..], max_units / 2).len();
    let window = Window { text, full, reach, least };
    window
        .after("\n\n")
        .or_else(|| window.after("\n"))
        .or_else(|| window.sentence(first))
        .or_else(|| window.word())
        .unwrap_or_else(|| window.grapheme(first))
}

/// Returns the longest prefix of at most `units` UTF-16 units.
fn prefix(text: &str, units: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.len_utf16();
        used > units
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Range of possible cuts, in bytes.
struct Window<'a> {
    text: &'a str,
    /// Position at which the part reaches its maximum length.
    full: usize,
    /// `full` plus the white space after it, which does not count.
    reach: usize,
    /// Position at half the maximum length: an earlier cut would waste too much of the part.
    least: usize,
}

impl Window<'_> {
    fn after(&self, separator: &str) -> Option<usize> {
        let found = self.text[self.least..self.reach].rfind(separator)?;
        Some(self.least + found + separator.len())
    }

    fn sentence(&self, first: usize) -> Option<usize> {
        let sentences = self.text[first..].split_sentence_bound_indices().map(|(at, _)| first + at);
        sentences.take_while(|at| *at <= self.reach).filter(|at| self.allows(*at)).last()
    }

    fn word(&self) -> Option<usize> {
        let gaps = self.text[self.least..self.reach].rmatch_indices(is_word_gap);
        gaps.map(|(at, gap)| self.least + at + gap.len()).find(|at| self.allows(*at))
    }

    fn grapheme(&self, first: usize) -> usize {
        let mut cursor = GraphemeCursor::new(self.full, self.text.len(), true);
        if cursor.is_boundary(self.text, 0) == Ok(true) {
            return self.full;
        }
        match cursor.prev_boundary(self.text, 0) {
            Ok(Some(at)) if at > first => at,
            // A single grapheme longer than a message: hundreds of combining marks on one letter.
            _ => self.full,
        }
    }

    fn allows(&self, at: usize) -> bool {
        self.least < at && GraphemeCursor::new(at, self.text.len(), true).is_boundary(self.text, 0) == Ok(true)
    }
}

/// Returns `true` if a line may break at this white space.
fn is_word_gap(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{A0}' | '\u{2007}' | '\u{202F}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{Entity, EntityKind};

    fn lengths(text: &str) -> Vec<usize> {
        split(&FormattedText::plain(text)).iter().map(|part| utf16_len(&part.text)).collect()
    }

    /// Returns the last characters of the first part and the first characters of the second.
    fn seam(text: &str) -> (String, String) {
        let parts = split(&FormattedText::plain(text));
        let [left, right] = &parts[..] else { panic!("{} parts", parts.len()) };
        let tail: Vec<char> = left.text.chars().rev().take(6).collect();
        (tail.into_iter().rev().collect(), right.text.chars().take(6).collect())
    }

    #[track_caller]
    fn check_seam(text: &str, left: &str, right: &str) {
        assert_eq!(seam(text), (left.to_owned(), right.to_owned()));
    }

    #[test]
    fn what_fits_stays_in_one_part() {
        assert_eq!(lengths(&"x".repeat(4096)), [4096]);
        assert_eq!(lengths(&format!("  {}\n\n", "x".repeat(4096))), [4096]);
        assert_eq!(lengths(&"x".repeat(4097)), [4096, 1]);
    }

    #[test]
    fn nothing_visible_gives_no_part() {
        assert_eq!(lengths(""), [0; 0]);
        assert_eq!(lengths(&" \n".repeat(5000)), [0; 0]);
        assert_eq!(lengths(&"\u{200B}".repeat(9000)), [0; 0]);
    }

    #[test]
    fn a_cut_prefers_a_paragraph_then_a_line_a_sentence_a_word() {
        let words = |units: usize| "abcd ".repeat(units / 5);
        let start = words(2500);
        check_seam(&format!("{start}end.\n\nNew one. And\nso {}", words(2500)), "d end.", "New on");
        check_seam(&format!("{start}end one.\nThe line. It {}", words(2500)), "d one.", "The li");
        check_seam(&format!("{start}end one. The sentence {}", words(2500)), "d one.", "The se");
        check_seam(&words(5000), "d abcd", "abcd a");
    }

    #[test]
    fn a_paragraph_that_would_leave_the_part_half_empty_is_no_place_to_cut() {
        let text = format!("Short.\n\n{}", "abcd ".repeat(1000));
        assert_eq!(lengths(&text), [4092, 914]);
    }

    #[test]
    fn a_family_is_never_torn_apart() {
        let family = "👨‍👩‍👧‍👦";
        let parts = split(&FormattedText::plain(format!("x{}", family.repeat(600))));
        assert_eq!(parts.len(), 2);
        assert!(parts[0].text.ends_with(family) && parts[1].text.starts_with(family));
    }

    #[test]
    fn a_grapheme_longer_than_a_message_is_cut_between_characters() {
        assert_eq!(lengths(&format!("a{}", "\u{301}".repeat(5000))), [4096, 905]);
    }

    #[test]
    fn a_code_block_is_closed_and_opened_again() {
        let line = "    let x = 1;\n";
        let code = line.repeat(400);
        let pre = EntityKind::Pre { language: Some("rust".to_owned()) };
        let entity = Entity { offset: 0, length: utf16_len(&code), kind: pre.clone() };
        let parts = split(&FormattedText { text: code, entities: vec![entity] });
        assert_eq!(parts.len(), 2);
        for part in &parts {
            assert!(part.text.starts_with("    let x") && part.text.ends_with("= 1;"));
            assert_eq!(part.entities, [Entity { offset: 0, length: utf16_len(&part.text), kind: pre.clone() }]);
        }
    }

    #[test]
    fn an_endless_answer_ends_with_an_honest_line() {
        let parts = split(&FormattedText::plain("word ".repeat(10_000)));
        assert_eq!(parts.len(), MAX_PARTS);
        assert!(parts[4].text.ends_with("word\n\n… (cut: the answer was too long)"));
        assert!(utf16_len(&parts[4].text) <= MAX_UNITS);
    }

    #[test]
    fn five_full_parts_are_not_called_too_long() {
        let parts = split(&FormattedText::plain("x".repeat(MAX_UNITS * MAX_PARTS) + " \n"));
        assert_eq!(parts.len(), MAX_PARTS);
        assert_eq!(parts[4].text, "x".repeat(MAX_UNITS));
    }
}
