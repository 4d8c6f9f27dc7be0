//! Formatting of durations, counts and excerpts for people.

use std::borrow::Cow;
use std::time::Duration;

use unicode_segmentation::UnicodeSegmentation;

/// Formats a duration in the largest useful unit, rounded down: `45 min`, `26 h`, `3 days`.
pub fn span_in_words(span: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    match span.as_secs() {
        ..MINUTE => "less than a minute".to_owned(),
        secs @ ..7200 => format!("{} min", secs / MINUTE),
        secs @ ..172_800 => format!("{} h", secs / HOUR),
        secs => format!("{} days", secs / DAY),
    }
}

/// Formats a count with narrow spaces between thousands: `1 240`. A comma is the decimal sign of many languages.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Shortens `text` to at most `max_chars` characters including the final `…`, without splitting a grapheme (what a
/// reader sees as one character).
pub fn clip(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.chars().count() <= max_chars {
        return Cow::Borrowed(text);
    }
    let mut left = max_chars.saturating_sub(1);
    let kept: String = text
        .graphemes(true)
        .take_while(|grapheme| {
            let chars = grapheme.chars().count();
            let fits = chars <= left;
            left = left.saturating_sub(chars);
            fits
        })
        .collect();
    match max_chars {
        0 => Cow::Borrowed(""),
        _ => Cow::Owned(format!("{}…", kept.trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_largest_useful_unit() {
        let rendered = |secs| span_in_words(Duration::from_secs(secs));
        let spans = [59, 60, 7199, 7200, 26 * 3600 + 1800, 48 * 3600 - 1, 48 * 3600, 10 * 86_400].map(rendered);
        assert_eq!(spans, ["less than a minute", "1 min", "119 min", "2 h", "26 h", "47 h", "2 days", "10 days"]);
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1240, 1_000_000].map(grouped), ["0", "999", "1\u{202f}240", "1\u{202f}000\u{202f}000"]);
    }

    #[test]
    fn clipping_counts_characters_and_keeps_graphemes_whole() {
        assert_eq!(clip("short", 5), "short");
        assert_eq!(clip("too long", 5), "too…");
        // The family emoji is one grapheme of five characters.
        assert_eq!(clip("ab👨‍👩‍👧cd", 6), "ab…");
        assert_eq!(clip("anything", 0), "");
    }
}
