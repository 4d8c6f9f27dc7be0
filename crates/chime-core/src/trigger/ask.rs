//! Extracts the question of a trigger: its text without the bot's name and the command.

use std::ops::Range;

use crate::{Message, ParsedTrigger};

/// Punctuation that is removed together with the name before it: `@bot, …`, `@bot: …`, `@bot - …`.
const AFTER_NAME: [char; 9] = [',', ':', ';', '.', '!', '…', '-', '–', '—'];
/// Punctuation that follows a word without a space.
const CLOSING: [char; 8] = [',', ':', ';', '.', '!', '?', '…', ')'];

/// Returns the question of a trigger, which is its text without the ranges in `parsed.cut`, with the addresses of
/// hidden links and bars around spoilers.
pub fn ask_of(message: &Message, parsed: &ParsedTrigger) -> String {
    let (mut text, mut cut) = (message.text.clone(), parsed.cut.clone());
    // From the end, so that the byte positions of earlier ranges stay valid. The address of a link on the bot's name is
    // removed with the name.
    for (at, mark) in message.marks().into_iter().rev() {
        if !cut.iter().any(|range| range.start < at && at <= range.end) {
            text.insert_str(at, &mark);
            for range in cut.iter_mut().filter(|range| range.start >= at) {
                *range = range.start + mark.len()..range.end + mark.len();
            }
        }
    }
    without(&text, &cut)
}

/// Removes the byte ranges `cut` from `text`, together with punctuation after a name and spaces that would be doubled.
/// Keeps line breaks.
pub(super) fn without(text: &str, cut: &[Range<usize>]) -> String {
    let mut cut = cut.to_vec();
    cut.sort_by_key(|range| range.start);
    let mut kept: Option<String> = None;
    let mut from = 0;
    for range in &cut {
        let piece = text.get(from..range.start).unwrap_or_default();
        kept = Some(kept.map_or_else(|| piece.to_owned(), |before| joined(&before, piece)));
        from = from.max(range.end);
    }
    let rest = text.get(from..).unwrap_or_default();
    kept.map_or_else(|| rest.to_owned(), |before| joined(&before, rest)).trim().to_owned()
}

/// Joins the texts before and after a removed name.
fn joined(before: &str, after: &str) -> String {
    let start = before.trim_end();
    let end = after.trim_start();
    if start.is_empty() {
        return without_opening_mark(after).to_owned();
    }
    if end.is_empty() || begins_with_loose_mark(end) {
        return format!("{}{end}", start.trim_end_matches(','));
    }
    let gap = [before.get(start.len()..), after.get(..after.len() - end.len())].map(Option::unwrap_or_default).concat();
    let space = match gap.as_str() {
        "" => "",
        gap if gap.contains('\n') => "\n",
        _ => " ",
    };
    format!("{start}{space}{end}")
}

/// Removes leading punctuation: `, what…` → `what…`. A mark directly before a word (`-5`, `.env`) stays, unless it
/// directly followed the name.
fn without_opening_mark(after: &str) -> &str {
    let glued = after.trim_start_matches(AFTER_NAME);
    if glued.len() < after.len() {
        return glued;
    }
    let text = after.trim_start();
    let same_line = after.get(..after.len() - text.len()).is_some_and(|space| !space.contains('\n'));
    match text.strip_prefix(AFTER_NAME) {
        Some(rest) if same_line && rest.chars().next().is_none_or(char::is_whitespace) => rest,
        _ => text,
    }
}

fn begins_with_loose_mark(text: &str) -> bool {
    let mut chars = text.chars();
    let is_mark = |c: char| CLOSING.contains(&c);
    chars.next().is_some_and(is_mark) && chars.next().is_none_or(|c| c.is_whitespace() || is_mark(c))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    /// Removes every `@bot` from the lines.
    #[track_caller]
    fn check(lines: &[&str], expected: Expect) {
        let asks: Vec<String> = lines
            .iter()
            .map(|line| {
                let cut: Vec<_> = line.match_indices("@bot").map(|(at, name)| at..at + name.len()).collect();
                format!("{line:?} -> {:?}", without(line, &cut))
            })
            .collect();
        expected.assert_eq(&asks.join("\n"));
    }

    #[test]
    fn the_ask_reads_as_if_the_name_had_never_been_there() {
        check(
            &[
                "@bot",
                "@bot what now?",
                "@bot, what now?",
                "@bot: what now?",
                "@bot - what now?",
                "@bot... thoughts?",
                "what now, @bot?",
                "what now @bot ?",
                "so @bot what now",
                "so, @bot, what now",
                "hey @bot!",
                "@bot @bot hm",
                "@bot -5 + 3?",
                "@bot .env is missing",
                "@bot ^",
                "@bot!",
                "see @bot .env",
                "first\n@bot\nsecond",
                "@bot\n- one\n- two",
                "(@bot) pizza",
                "  no name  ",
                "",
            ],
            expect![[r#"
                "@bot" -> ""
                "@bot what now?" -> "what now?"
                "@bot, what now?" -> "what now?"
                "@bot: what now?" -> "what now?"
                "@bot - what now?" -> "what now?"
                "@bot... thoughts?" -> "thoughts?"
                "what now, @bot?" -> "what now?"
                "what now @bot ?" -> "what now?"
                "so @bot what now" -> "so what now"
                "so, @bot, what now" -> "so, what now"
                "hey @bot!" -> "hey!"
                "@bot @bot hm" -> "hm"
                "@bot -5 + 3?" -> "-5 + 3?"
                "@bot .env is missing" -> ".env is missing"
                "@bot ^" -> "^"
                "@bot!" -> ""
                "see @bot .env" -> "see .env"
                "first\n@bot\nsecond" -> "first\nsecond"
                "@bot\n- one\n- two" -> "- one\n- two"
                "(@bot) pizza" -> "() pizza"
                "  no name  " -> "no name"
                "" -> """#]],
        );
    }

    proptest! {
        #[test]
        fn any_cut_of_any_text_is_survived(text in "\\PC*", cut in prop::collection::vec((0usize..40, 0usize..40), 0..4)) {
            let cut: Vec<Range<usize>> = cut.into_iter().map(|(start, length)| start..start + length).collect();
            without(&text, &cut);
        }
    }
}
