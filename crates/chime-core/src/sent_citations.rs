//! Finds and removes the citations in answers that the bot sent: source numbers in the text, and the line at the end
//! that lists the sources.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern;
use crate::texts::{CitationTexts, all, texts};

/// Returns the label of the source line (`Sources: `) and the note on removed citations, in English if the language has
/// none.
pub fn source_labels(code: &str) -> (&'static str, &'static str) {
    let CitationTexts { sources, removed, .. } = &texts(code).citations;
    (sources, removed)
}

/// If `paragraph` is a line that lists the sources of an answer, returns it without its label.
pub fn source_list(paragraph: &str) -> Option<&str> {
    let labels = all().iter().flat_map(|(_, texts)| [&texts.citations.sources, &texts.citations.web]);
    labels.into_iter().find_map(|label| paragraph.strip_prefix(label)).filter(|list| list.starts_with('['))
}

/// Matches the note and the source line at the end of an answer.
static FOOTER: LazyLock<Regex> = LazyLock::new(|| {
    let any = |of: fn(&CitationTexts) -> &str| {
        all().iter().map(|(_, texts)| regex::escape(of(&texts.citations))).collect::<Vec<_>>().join("|")
    };
    let labels = format!("{}|{}", any(|labels| &labels.sources), any(|labels| &labels.web));
    let line = format!(r"(?:{labels})\[[0-9]{{1,3}}\].*");
    let note = format!("(?:{})", any(|labels| &labels.removed));
    pattern(&format!(r"(?s)(?:\A|\n+)(?:{note}(?:\n+{line})?|{line})\s*\z"))
});
/// Matches a citation number, as it remains in the plain text.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \t]*\[[0-9]{1,3}\]"));

/// Removes citation numbers and the source line from a sent answer. In a later prompt these numbers would mean nothing,
/// and a model would copy them instead of citing the messages of that prompt.
pub fn without_sent_citations(sent: &str) -> String {
    NUMBER.replace_all(&FOOTER.replace_all(sent, ""), "").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bots_own_answer_loses_its_citations_in_a_later_prompt() {
        let sent =
            "It is Thai [1][2], open late.\n\n(Removed invalid citation)\n\nSources: [1] Ana 14:02 · [2] Bob 14:05";
        assert_eq!(without_sent_citations(sent), "It is Thai, open late.");
        assert_eq!(without_sent_citations("Yes.\n\n(Removed invalid citation)"), "Yes.");
        let sent = "At nine [1][2].\n\nSources: [2] Ana 14:02\nWeb: [1] Ferries 3 May";
        assert_eq!(without_sent_citations(sent), "At nine.");
        assert_eq!(without_sent_citations("At nine [1].\n\nWeb: [1] Ferries 3 May"), "At nine.");
        assert_eq!(without_sent_citations("Sources: the town hall."), "Sources: the town hall.");
        assert_eq!(without_sent_citations("Um neun [1].\n\nQuellen: [1] Ana 14:02"), "Um neun.");
        assert_eq!(without_sent_citations("À neuf heures [1].\n\nSources : [1] Ana 14:02"), "À neuf heures.");
    }
}
