//! Removes markup that is not part of an answer: citations of a provider's own search, and leaked template tokens.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::code::replace_outside;
use crate::turns::{TOKEN, is_filler, is_mentioned, is_mentioned_in_sentence, is_reserved};
use chime_core::pattern;

/// Runs of citation markers, each with the blanks before it: `【4†source】`, the same in private-use characters,
/// `citeturn0search1`, `[^1^]`, `:contentReference[oaicite:0]{index=0}`, `[oai_citation:0‡Chat](https://…)`,
/// `[cite_start]`, `[cite: 4]`, `[doc1]`, `[web:2]`, `[2†L1-L3]`.
static CITATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:[ \t]*(?:【[^【】\n]{0,60}†[^【】\n]{0,60}】|\x{E200}[^\x{E201}\n]{0,200}\x{E201}|[\x{E200}-\x{E20F}]",
        r"|\[cite_(?:start|end)\]|\[cite:[\d\s,.-]{1,400}\]|\[(?:doc\d+|web:\d+|\d+(?::\d+)?†[^\[\]\n]{0,60})\]",
        r"|(?:file)?cite(?:[\x{E200}-\x{E20F}]?turn\d+[a-z]+\d+)+|\[\^\d+\^\]|:contentReference\[oaicite:\d+\](?:\{index=\d+\})?",
        r"|\[oai_citation\w*:\d+[^\[\]\n]{0,80}\](?:\((?:[^()\s]|\([^()\s]*\))*\))?))+",
    ))
});

/// Citation tags and the words between them: `<cite>…</cite>`, `<co: 1>…</co: 1>`; `<grok:render …>…</grok:render>` and
/// the place of an object in a photo, `<|box_start|>(12,30),(50,60)<|box_end|>`, which are nothing for members; or a tag
/// of `<antArtifact …>…</antArtifact>`, which contains the answer.
static TAGGED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"<(?:cite|citation|co)(?:[:\s][^<>\n]{0,80})?>(?P<words>[^<>]*)</(?:cite|citation|co)(?:[:\s][^<>\n]{0,40})?>",
        r"|[ \t]*<grok:render\b[^<>]*>(?s:.*?)(?:</grok:render>|\z)|[ \t]*<\|(?:box|quad)_start\|>[\d\s(),.\[\]]*<\|(?:box|quad)_end\|>|<antArtifact\s[^<>]*>|</antArtifact>",
    ))
});

/// A run of template tokens, each with the blanks before it. The group is the last one.
static LEAKED: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?:[ \\t]*(?P<token>{}))+", TOKEN.as_str())));

/// Bytes of a text that a server did not decode: `<0xF0><0x9F><0x8E><0x89>`.
static BYTES: LazyLock<Regex> = LazyLock::new(|| pattern("(?:<0x[0-9A-Fa-f]{2}>)+"));

/// An escaped line break that ends a sentence or comes before a list or another one: `\n- at seven`.
static ESCAPED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:(?P<end>[.!?…:)。！？])\\n(?:\\n)*|(?:\\n)+(?P<list>[-*•] |\d+[.)] ))"));

/// A possibly incomplete marker at the end of a streamed text.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?:<\|(?:box|quad)_start\|>[\d\s(),.\[\]]*(?:<[^<>\n]*)?|<antArtifact\s[^<>]*|<grok:render\b(?:[^<]|<[^/]|</[^g])*(?:</?|</g[^<>]*)?|<(?:cite|citation|co)(?:[:\s][^<>\n]{0,80})?>[^<>]{0,400}(?:<[^<>\n]*)?|<(?:[^\s<>=\d][^<>\n]{0,80}|0(?:x[0-9A-Fa-f]{0,2})?)?|【[^【】\n]{0,120}|\[[^\[\]\n]{0,20}|\[cite:[\d\s,.-]*|\[oai_citation[^\[\]\n]*(?:\](?:\([^()\s]*)?)?|\x{E200}[^\x{E201}\n]{0,200}",
        r"|(?:file)?citet[a-z0-9]*|:(?:cont[a-zA-Z]*(?:\[[^\]]*)?)?|commentary [to]*)\z",
    ))
});

/// Returns `text` without markers. Markers in code and in sentences about a marker stay.
pub fn without_markers(text: &str, about_tokens: bool) -> String {
    let text = replace_outside(text, &CITATION, |found| {
        let range = found.get(0)?.range();
        let rest = &text[range.end..];
        let is_link = text[range.clone()].ends_with(']') && (rest.starts_with('(') || rest.starts_with(": http"));
        (!is_link).then(|| gap(text, range))
    });
    let text = replace_outside(&text, &TAGGED, |found| {
        let whole = found.get(0)?.range();
        let Some(words) = found.name("words") else { return Some(gap(&text, whole)) };
        let tag = whole.start..words.start();
        let words = words.as_str().trim();
        let is_number = words.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | ' ' | '[' | ']'));
        let is_mark = !is_mentioned_in_sentence(&text, tag.start, tag.end);
        is_mark.then(|| if is_number { String::new() } else { words.to_owned() })
    });
    if !TOKEN.is_match(&text) {
        return text.trim().to_owned();
    }
    let text = replace_outside(&text, &LEAKED, |found| {
        let (token, range) = (found.name("token")?, found.get(0)?.range());
        let is_mark = token.as_str().starts_with('<') && token.as_str().contains(['|', '｜'])
            || is_reserved(token.as_str())
            || is_filler(token.as_str());
        (is_mark && !is_mentioned(&text, token.range(), about_tokens)).then(|| gap(&text, range))
    });
    text.trim().to_owned()
}

/// Returns `text` with bytes and line breaks that the server or the model wrote as codes. Those in code, and line
/// breaks beside real ones, stay.
pub fn with_escapes_read(text: &str, is_about: bool) -> String {
    if is_about || !text.contains("<0x") && !text.contains("\\n") {
        return text.to_owned();
    }
    let text = replace_outside(text, &BYTES, |found| {
        let digits: Vec<u8> =
            found[0].split("<0x").filter_map(|code| u8::from_str_radix(code.strip_suffix('>')?, 16).ok()).collect();
        Some(String::from_utf8_lossy(&digits).into_owned())
    });
    if text.contains('\n') {
        return text;
    }
    let is_path =
        |before: &str| before.ends_with(':') && before[..before.len() - 1].ends_with(|c: char| c.is_ascii_uppercase());
    replace_outside(&text, &ESCAPED, |found| {
        let whole = found.get(0)?;
        let is_break = !is_path(&text[..whole.start() + found.name("end").map_or(0, |end| end.len())]);
        is_break.then(|| whole.as_str().replace("\\n", "\n"))
    })
}

/// Returns `text` with blanks for the signs by which vocabularies mark them, `▁` and `Ġ`, if it has no other blanks.
pub fn with_blanks_read(text: String) -> String {
    /// Fewer are letters of a word, or a chart.
    const FEWEST: usize = 3;
    let begins_word = |word: &str| word.starts_with(char::is_alphanumeric);
    let is_blank = |sign: &char| text.split(*sign).skip(1).filter(|word| begins_word(word)).count() >= FEWEST;
    match ['▁', 'Ġ'].into_iter().find(is_blank).filter(|_| !text.contains(' ')) {
        Some(sign) => text.replace(sign, " ").replace('Ċ', "\n").trim().to_owned(),
        None => text,
    }
}

/// Returns the text that replaces markers and the blanks before them: a blank where words would run together.
fn gap(text: &str, markers: Range<usize>) -> String {
    let (shown, rest) = (&text[markers.clone()], &text[markers.end..]);
    let stands_apart = shown.starts_with([' ', '\t']) || text[..markers.start].ends_with(['.', '!', '?']);
    // Asterisks behind a marker end bold text, unless the marker begins a citation.
    let ends_bold = rest.starts_with(['*', '_']) && !shown.contains("start");
    let closes = rest.starts_with(|c: char| c.is_whitespace() || ".,;:!?)]}…”»。，、！？".contains(c)) || ends_bold;
    if stands_apart && !rest.is_empty() && !closes { " ".to_owned() } else { String::new() }
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
        assert_eq!(without_markers(text, false), expected);
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
        check("On Friday [2†L1-L3], at seven [web:2].", "On Friday, at seven.");
        check("On <|fim_middle|>Friday.", "On Friday.");
        check("On<pad> Friday.<pad><pad>", "On Friday.");
        check("On [PAD151645]Friday<unk>.[UNUSED_TOKEN_145]", "On Friday.");
        check("On <SPECIAL_12>Friday. <SPECIAL_12>", "On Friday.");
        check(
            "On <|object_ref_start|>Friday<|object_ref_end|><|box_start|>(12, 30),(50,60)<|box_end|> at seven.",
            "On Friday at seven.",
        );
        check("On <|quad_start|>(1,2)<|quad_end|>Friday <|box_start|>(1, 2)<|box_end|>.", "On Friday.");
        check("On Friday.<unused7>", "On Friday.");
        check("On <|a|><|b|>Friday <|a|><|b|>.", "On Friday.");
        check("The price is <|begin_of_box|>$12<|end_of_box|>.", "The price is $12.");
        check("On Friday.【4†source】【5†source】At seven.", "On Friday. At seven.");
        check("* [cite_start]**Dinner**: **Friday [cite: 4]**.", "* **Dinner**: **Friday**.");
        check("On Friday <|channel|> at seven.", "On Friday at seven.");
        check("They settled on <|begin_of_box|>Friday<|end_of_box|>.", "They settled on Friday.");
        check("[cite_start]On Friday [cite: 4]. [cite_start]At seven[cite: 4, 7].[cite_end]", "On Friday. At seven.");
        check(
            "On Friday [oai_citation:0‡Chat](https://a.example/x_(y)), at seven[oai_citation:1‡b.pdf].",
            "On Friday, at seven.",
        );
        check("<antArtifact identifier=\"x\" type=\"text/markdown\">\nOn Friday.\n</antArtifact>", "On Friday.");
        check("On Friday [doc1], at seven [doc2][doc3].", "On Friday, at seven.");
        let grok =
            r#"<grok:render card_id="a1" type="render_inline_citation"><argument name="id">3</argument></grok:render>"#;
        check(&format!("On Friday{grok} at seven.{grok}"), "On Friday at seven.");
    }

    #[test]
    fn whoever_asks_about_a_mark_is_answered() {
        for text in [
            "Write `<cite>Emma</cite>` for titles.",
            "Titles stand between <cite> and </cite> there.",
            "注意【重要】明天。",
            "A footnote is written so: [^1]",
            "```\n【4†source】\n```",
            "The token `<|fim_middle|>` stands for the gap.",
            "The <pad> token fills the batch, <unk> stands for other words.",
            "A list [PAD] of [A12] and [MASK] stays.",
            "Let me cite turn 3 of it.",
            "See [doc1](https://a.example), and `[doc1]`.",
            "Claude puts files into <antArtifact> tags.",
            "| token | use |\n| --- | --- |\n| <|fim_middle|> | the gap |",
        ] {
            check(text, text);
        }
        let text = "The token <|fim_middle|> stands for the gap.";
        assert_eq!(without_markers(text, true), text);
    }

    #[test]
    fn half_a_mark_is_held_back() {
        for begun in [
            "<|im_",
            "</too",
            "【4†so",
            "[TOOL_C",
            "\u{E200}cite",
            "citeturn0se",
            ":contentRef",
            "<co: 1>Fri</co",
            "[cite_st",
            "[cite: 4, 7, 12, 17, 22, 31",
            "[oai_citation:0‡Chat](https://a.exam",
            "<antArtifact identifier=\"x\" title=\"a long title of what the model wrote, with the day and the time\" type",
            "<grok:render id=\"a\"><argument name=\"n\">3</argument></gr",
        ] {
            assert!(before_begun_marker(&format!("On Friday {begun}")).starts_with("On Friday"), "{begun}");
            assert!(!before_begun_marker(&format!("On Friday {begun}")).ends_with(begun), "{begun}");
        }
        for text in ["On Friday", "a < b", "1 <2", "[1] Friday", "They agreed"] {
            assert_eq!(before_begun_marker(text), text);
        }
    }
}
