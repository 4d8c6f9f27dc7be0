//! Removes markup that is not part of an answer: citations of a provider's own search, and leaked template tokens.

use std::sync::LazyLock;

use regex::Regex;

use crate::code::{pattern, replace_outside};
use crate::turns::{TOKEN, is_talked_about};

/// Citation markers, each with the blanks before it: `【4†source】`, the same in private-use characters,
/// `citeturn0search1`, `[^1^]`, `:contentReference[oaicite:0]{index=0}`.
static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"[ \t]*(?:【[^【】\n]{0,60}†[^【】\n]{0,60}】|\x{E200}[^\x{E201}\n]{0,200}\x{E201}|[\x{E200}-\x{E20F}]",
        r"|(?:file)?cite(?:[\x{E200}-\x{E20F}]?turn\d+[a-z]+\d+)+|\[\^\d+\^\]|:contentReference\[oaicite:\d+\](?:\{index=\d+\})?)",
    ))
});

/// Citation tags and the words between them: `<cite>…</cite>`, `<co: 1>…</co: 1>`.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"<(?:cite|citation|co)(?:[:\s][^<>\n]{0,80})?>(?P<words>[^<>]*)</(?:cite|citation|co)(?:[:\s][^<>\n]{0,40})?>",
    )
});

/// A possibly incomplete marker at the end of a streamed text.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:<(?:cite|citation|co)(?:[:\s][^<>\n]{0,80})?>[^<>]{0,400}(?:<[^<>\n]*)?|<(?:[^\s<>=\d][^<>\n]{0,80})?|【[^【】\n]{0,120}|\[[^\[\]\n]{0,20}|\x{E200}[^\x{E201}\n]{0,200}",
        r"|(?:file)?citet[a-z0-9]*|:(?:cont[a-zA-Z]*(?:\[[^\]]*)?)?|commentary [to]*)\z",
    ))
});

/// Returns `text` without markers. Markers in code and in sentences about a marker stay.
pub fn without_markers(text: &str) -> String {
    let text = replace_outside(text, &CITATION, |found| {
        let range = found.get(0)?.range();
        let stands_apart =
            text[range.clone()].starts_with([' ', '\t']) || text[..range.start].ends_with(['.', '!', '?']);
        // A blank keeps the words before and after the removed marker apart.
        let is_glue = stands_apart && text[range.end..].starts_with(char::is_alphanumeric);
        Some(if is_glue { " ".to_owned() } else { String::new() })
    });
    let text = replace_outside(&text, &TAGGED, |found| {
        let words = found["words"].trim();
        let tag = found.get(0)?.start()..found.name("words")?.start();
        let is_number = words.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ' ' | '[' | ']'));
        let is_mark = !is_talked_about(&text, tag.start, tag.end);
        is_mark.then(|| if is_number { String::new() } else { words.to_owned() })
    });
    let text = replace_outside(&text, &TOKEN, |found| {
        let token = found.get(0)?;
        let is_mark = token.as_str().starts_with(['<']) && token.as_str().contains(['|', '｜']);
        (is_mark && !is_talked_about(&text, token.start(), token.end())).then(String::new)
    });
    text.trim().to_owned()
}

/// Markers that start like an ordinary word, so that a streamed text may end within one.
const WORDS: [&str; 5] = ["citeturn", "fileciteturn", "commentary", "assistantcommentary", "assistantfinal"];

/// Returns the prefix of `text` before a possibly incomplete marker at its end.
pub fn before_begun_marker(text: &str) -> &str {
    let before = BEGUN.find(text).map_or(text, |begun| text[..begun.start()].trim_end());
    let rest = before.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let word = &before[rest.len()..];
    if !word.is_empty() && WORDS.iter().any(|mark| mark.starts_with(word)) { rest.trim_end() } else { before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_markers(text), expected);
    }

    #[test]
    fn citations_of_providers_go() {
        check("On Friday【4†source】, at seven 【4:0†dinner.txt】.", "On Friday, at seven.");
        check("On Friday \u{E200}cite\u{E202}turn0search1\u{E202}turn0search2\u{E201}.", "On Friday.");
        check("On Friday citeturn0search1. At seven.filecite\u{E202}turn1file0", "On Friday. At seven.");
        check("On Friday.citeturn0search1turn0news2 At seven.", "On Friday. At seven.");
        check("On Friday[^1^][^2^]. At seven :contentReference[oaicite:0]{index=0}.", "On Friday. At seven.");
        check("On <co: 1>Friday</co: 1> at <cite index=\"1-2\">seven</cite><cite>4</cite>.", "On Friday at seven.");
        check("On Friday.【4†source】At seven.", "On Friday. At seven.");
        check("On <|fim_middle|>Friday.", "On Friday.");
    }

    #[test]
    fn whoever_asks_about_a_mark_is_answered() {
        for text in [
            "Write `<cite>Emma</cite>` for titles.",
            "Titles stand between <cite> and </cite> there.",
            "注意【重要】明天。",
            "A footnote is written so: [^1]",
            "```\n【4†source】\n```",
            "The token <|fim_middle|> stands for the gap.",
            "Let me cite turn 3 of it.",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn half_a_mark_is_held_back() {
        for begun in
            ["<|im_", "</too", "【4†so", "[TOOL_C", "\u{E200}cite", "citeturn0se", ":contentRef", "<co: 1>Fri</co"]
        {
            assert!(before_begun_marker(&format!("On Friday {begun}")).starts_with("On Friday"), "{begun}");
            assert!(!before_begun_marker(&format!("On Friday {begun}")).ends_with(begun), "{begun}");
        }
        for text in ["On Friday", "a < b", "1 <2", "[1] Friday", "They agreed"] {
            assert_eq!(before_begun_marker(text), text);
        }
    }
}
