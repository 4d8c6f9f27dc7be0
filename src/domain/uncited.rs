//! What an answer of the bot's own carries beside its words: the numbers of its sources, and the line that tells them.

use std::sync::LazyLock;

use regex::Regex;

/// How the line begins that tells the sources of an answer.
pub const SOURCES: &str = "Sources: ";
/// Stands under an answer that cited what it was not given.
pub const REMOVED_NOTE: &str = "(Removed invalid citation)";

/// What stands under an answer.
static FOOTER: LazyLock<Regex> = LazyLock::new(|| {
    let (line, note) = (format!(r"{SOURCES}\[1\].*"), regex::escape(REMOVED_NOTE));
    pattern(&format!(r"(?s)(?:\A|\n+)(?:{note}(?:\n+{line})?|{line})\s*\z"))
});
/// What stands in the place of a citation, once the Markdown is gone.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \t]*\[[0-9]{1,3}\]"));

/// An answer of the bot's own, as it was sent, without its numbers and its source line: read again later, they lead
/// nowhere, and a model that sees them writes them instead of citations.
pub fn without_citations(sent: &str) -> String {
    NUMBER.replace_all(&FOOTER.replace_all(sent, ""), "").into_owned()
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and the tests compile them")]
fn pattern(raw: &str) -> Regex {
    Regex::new(raw).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bots_own_answer_loses_its_citations_in_a_later_prompt() {
        let sent =
            "It is Thai [1][2], open late.\n\n(Removed invalid citation)\n\nSources: [1] Ana 14:02 · [2] Bob 14:05";
        assert_eq!(without_citations(sent), "It is Thai, open late.");
        assert_eq!(without_citations("Yes.\n\n(Removed invalid citation)"), "Yes.");
        assert_eq!(without_citations("Sources: the town hall."), "Sources: the town hall.");
    }
}
