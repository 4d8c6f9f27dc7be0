//! Removes or escapes parts of Markdown before and after parsing.

use unicode_normalization::char::compose;

use chime_core::{Fences, is_removed};

/// HTML tags that are never shown as text: they are converted to formatting or dropped.
const TAGS: &[&str] = &[
    "b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "code", "kbd", "tt", "sup", "sub", "br", "details",
    "summary",
];

/// Returns `text` without characters that Telegram removes anyway: control characters except newline and tab, direction
/// overrides, and three combining marks (ring, double line above or below). Converts other line ends to newlines.
pub(super) fn clean(text: &str) -> String {
    let newlines = text.replace("\r\n", "\n").replace(['\r', '\u{2028}', '\u{2029}'], "\n");
    let mut kept = String::with_capacity(newlines.len());
    for c in newlines.chars() {
        if !is_removed(c) {
            kept.push(c);
        } else if let Some(letter) = kept.chars().next_back().and_then(|before| compose(before, c)) {
            // Joins letter and ring to one character, such as `å`: Telegram would remove a separate ring.
            kept.pop();
            kept.push(letter);
        }
    }
    kept
}

/// Escapes line starts that Markdown would misread: `[Ana]: hello` is a link definition that shows nothing, and HTML
/// disables links and emphasis up to the next empty line.
///
/// Looks at the text and not at parser events: the parser reports no second definition of the same label.
pub(super) fn protect_line_starts(markdown: &str) -> String {
    let mut fences = Fences::default();
    let mut out = String::with_capacity(markdown.len());
    for line in markdown.split_inclusive('\n') {
        let content = line.trim_start_matches([' ', '>']);
        let (margin, _) = line.split_at(line.len() - content.len());
        out.push_str(margin);
        if !fences.is_code(line) && !margin.ends_with("    ") && (is_false_definition(content) || begins_html(content))
        {
            out.push('\\');
        }
        out.push_str(content);
    }
    out
}

fn is_false_definition(line: &str) -> bool {
    let after_words = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let address = after_words.and_then(|(_, rest)| rest.strip_prefix(':'));
    address.is_some_and(|address| !address.contains("://"))
}

/// Returns the name of a formatting tag and whether it is a closing tag; `None` for tags that are shown as text.
pub(super) fn formatting_tag(html: &str) -> Option<(&'static str, bool)> {
    let inside = html.strip_prefix('<')?.strip_suffix('>')?;
    tag_name(inside).map(|name| (name, inside.starts_with('/')))
}

/// Returns `true` if the text after a `<` is a tag from [`TAGS`].
pub(super) fn is_formatting_tag(behind: &str) -> bool {
    behind.split_once('>').is_some_and(|(inside, _)| tag_name(inside).is_some())
}

/// Returns `details`, `summary` or the closing tag of one, for the text after a `<`, without attributes, and the text
/// behind the tag.
pub(super) fn fold_tag(behind: &str) -> Option<(&'static str, &str)> {
    let (inside, behind) = behind.split_once('>')?;
    let name = inside.split_whitespace().next()?;
    let found = ["details", "summary", "/details", "/summary"].into_iter().find(|tag| tag.eq_ignore_ascii_case(name));
    found.map(|tag| (tag, behind))
}

fn tag_name(inside: &str) -> Option<&'static str> {
    let name = inside.trim_start_matches('/').trim_end_matches('/').trim();
    TAGS.iter().find(|tag| tag.eq_ignore_ascii_case(name)).copied()
}

/// Returns `true` if a line starts with an HTML tag or comment, as opposed to an address in angle brackets.
fn begins_html(line: &str) -> bool {
    let Some(rest) = line.strip_prefix('<') else { return false };
    let word = rest.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default();
    let is_address = word.contains([':', '@']);
    !is_address && rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_go_and_line_ends_are_newlines() {
        assert_eq!(clean("a\0b\u{7}\u{202E}c\td\r\ne\rf\u{2028}g\u{85}"), "abc\td\ne\nf\ng");
    }

    #[test]
    fn marks_that_telegram_removes_go_and_letters_that_need_one_stay() {
        assert_eq!(clean("@\u{30A}b\u{333}o\u{33F}b a\u{30A}"), "@bob å");
        assert_eq!(clean("\u{30A}\u{333}"), "");
    }

    #[test]
    fn only_definitions_without_an_address_are_protected() {
        assert_eq!(
            protect_line_starts("[Ana]: hello\n> [Bo]: hi\n[1]: https://x.example\n[x]:\ny\n"),
            "\\[Ana]: hello\n> \\[Bo]: hi\n[1]: https://x.example\n\\[x]:\ny\n"
        );
    }

    #[test]
    fn html_is_text() {
        assert_eq!(
            protect_line_starts("<details>\n<https://x.example>\n<a@b.example>\n</details>\n<!-- x -->\n< 5\n"),
            "\\<details>\n<https://x.example>\n<a@b.example>\n\\</details>\n\\<!-- x -->\n< 5\n"
        );
    }

    #[test]
    fn a_link_at_the_start_of_a_line_stays_a_link() {
        let link = "[a](https://x.example) and [b]: c";
        assert_eq!(protect_line_starts(link), link);
    }

    #[test]
    fn code_needs_no_protection() {
        let code = "```\n[a]: b\n```\n\n    [a]: b\n";
        assert_eq!(protect_line_starts(code), code);
    }
}
