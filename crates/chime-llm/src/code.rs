//! Finds code spans and code blocks in Markdown. Reasoning tags and tokens of the chat template that stand in code are
//! not removed from an answer.

use std::ops::Range;

use regex::{Captures, Regex};

use chime_core::Fences;

/// Characters with which a sentence ends.
pub const SENTENCE_ENDS: [char; 10] = ['.', '!', '?', '…', ')', '。', '！', '？', '।', '؟'];

/// Returns the ranges of code in a text: fenced blocks including their fences, and inline spans including their
/// backticks. An unclosed block extends to the end of the text.
pub fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut fences) = (Vec::new(), Fences::default());
    let (mut at, mut from, mut was_code) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let is_code = fences.is_code(line);
        if is_code != was_code {
            ranges.extend(piece(text, from..at, was_code));
            (from, was_code) = (at, is_code);
        }
        at += line.len();
    }
    ranges.extend(piece(text, from..at, was_code));
    ranges
}

/// Returns the code in a piece of a text that is either a block of code or prose with spans of code.
fn piece(text: &str, range: Range<usize>, is_code: bool) -> Vec<Range<usize>> {
    if is_code { vec![range] } else { spans(text, range) }
}

/// Replaces each match that starts outside of code with the result of `with`. Keeps the match if `with` returns `None`.
pub fn replace_outside(text: &str, pattern: &Regex, with: impl Fn(&Captures<'_>) -> Option<String>) -> String {
    let code = code_ranges(text);
    let (mut replaced, mut from) = (String::with_capacity(text.len()), 0);
    for found in pattern.captures_iter(text) {
        let Some(range) = found.get(0).map(|whole| whole.range()).filter(|range| !is_in(&code, range.start)) else {
            continue;
        };
        if let Some(new) = with(&found) {
            replaced.push_str(&text[from..range.start]);
            replaced.push_str(&new);
            from = range.end;
        }
    }
    replaced.push_str(&text[from..]);
    replaced
}

pub fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    ranges.iter().any(|range| range.contains(&at))
}

/// Returns the inline code spans of `prose`: text between runs of equally many backticks, within a paragraph.
fn spans(text: &str, prose: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), prose.start);
    while let Some(open) = text[at..prose.end].find('`').map(|open| at + open) {
        let run = text[open..prose.end].len() - text[open..prose.end].trim_start_matches('`').len();
        let inside = open + run;
        let paragraph = text[inside..prose.end].find("\n\n").map_or(prose.end, |end| inside + end);
        match closing_run(&text[inside..paragraph], run) {
            Some(end) => {
                found.push(open..inside + end);
                at = inside + end;
            }
            None => at = inside,
        }
    }
    found
}

/// Returns the end of the first run of exactly `length` backticks.
fn closing_run(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(start) = text[at..].find('`').map(|start| at + start) {
        let run = text[start..].len() - text[start..].trim_start_matches('`').len();
        at = start + run;
        if run == length {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<&str> = code_ranges(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn blocks_and_spans_are_found() {
        check("a `b` c ``d ` e`` f", &["`b`", "``d ` e``"]);
        check("a ` b\n\nc ` d", &[]);
        check("a\n```rust\nb `c`\n```\nd `e`", &["```rust\nb `c`\n```\n", "`e`"]);
        check("~~~~\na\n~~~\n~~~~\nb", &["~~~~\na\n~~~\n~~~~\n"]);
        check("a\n```\nb", &["```\nb"]);
        check("```like``` this", &["```like```"]);
    }
}
