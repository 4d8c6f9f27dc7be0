//! Decides which part of an unfinished answer is shown, and at which rate. Pure functions.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::pattern_in_any_case;
use chime_core::Timestamp;

/// Minimum estimated tokens of an unfinished answer before it is shown.
pub const FIRST_TOKENS: usize = 20;
/// Time after which a group sees a placeholder if the answer is not ready.
pub const PLACEHOLDER_AFTER: Duration = Duration::from_secs(8);
/// Interval between edits of a message. Telegram throttles faster edits.
pub const EDIT_EVERY: Duration = Duration::from_secs(3);
/// Interval between drafts, which do not count against the limits on messages.
pub const DRAFT_EVERY: Duration = Duration::from_secs(1);
/// Streaming pauses in a chat that got this many messages and edits within a minute. Telegram allows 20 in a group; the
/// rest is for complete answers.
const EDITS_WITHIN: usize = 12;

/// Returns `true` for an answer so short that it may be a single fact, which a small model may have made up. Longer
/// answers, such as lists and texts that the model was asked to write, have numbers of their own.
pub fn may_be_one_fact(answer: &str) -> bool {
    /// In bytes.
    const ONE_FACT: usize = 120;
    answer.len() <= ONE_FACT && !answer.contains('\n')
}

/// Recent traffic of a chat.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Time until which Telegram accepts no messages; `None` if it accepts them now.
    pub held_until: Option<Timestamp>,
    /// Messages and edits of the last minute.
    pub within_minute: usize,
}

/// Returns `true` if an edit that shows more of an unfinished answer may be sent now. The rest of the chat's rate is
/// reserved for complete messages.
pub fn may_show(traffic: Traffic, now: Timestamp) -> bool {
    traffic.held_until.is_none_or(|until| until <= now) && traffic.within_minute < EDITS_WITHIN
}

/// Matches the beginning of a citation or a link at the end of an answer. Round brackets are common in prose, so a long
/// text in them does not count.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| {
    pattern_in_any_case(r"(?:[\[【［][^\[\]【】［］]{0,200}(?:\]\([^()]{0,200})?|[(（][^()（）]{0,40})\z")
});
/// Matches the heading of a list of sources, or the line on uncertainty, at the end of an answer.
static OWN_LIST: LazyLock<Regex> = LazyLock::new(|| {
    let label = crate::source_lists::LABEL;
    pattern_in_any_case(&format!(r"(?:\A|\n)[*_#> \t]*(?:{label}|uncertainty)[*_]*[ \t]?[:：][^\n]*\z"))
});

/// Returns the part of an unfinished answer that may be shown: without half a citation, link or word, and without a
/// list of sources.
pub fn settled(answer: &str) -> &str {
    let end = BEGUN.find(answer).map_or(answer.len(), |begun| begun.start());
    let text = answer[..end].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    let text = OWN_LIST.find(text).map_or(text, |list| &text[..list.start()]);
    text.trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::citation_basis::CitationBasis;
    use crate::citations::linked;
    use crate::lines::Labels;

    #[track_caller]
    fn shows(answer: &str, shown: &str) {
        assert_eq!(settled(answer), shown);
    }

    #[test]
    fn half_a_citation_is_never_shown() {
        for tail in
            ["[", "[sou", "[source: m1", "【m1", "(m", "m1", "[m1, m", "[source: m1][sou", "(source: m1", "［m1"]
        {
            let shown = settled(&format!("The boat leaves at nine {tail}")).to_owned();
            let whole =
                if tail.contains("][") { "The boat leaves at nine [source: m1]" } else { "The boat leaves at nine" };
            assert_eq!(shown, whole, "{tail}");
        }
        shows("The boat leaves [source: m1].", "The boat leaves [source: m1].");
    }

    #[test]
    fn half_a_link_and_a_half_word_are_not_shown() {
        shows("See [the plan](https://exa", "See");
        shows("See [the plan](https://example.org) and", "See [the plan](https://example.org)");
        shows(
            "wait (what they said about the trip on the river last summer with",
            "wait (what they said about the trip on the river last summer",
        );
        shows("Der Fährmann kommt, spä", "Der Fährmann kommt, spä");
    }

    #[test]
    fn a_list_of_sources_is_not_shown() {
        shows("At nine [source: m1].\n\nSources: m1, ", "At nine [source: m1].");
        shows("At nine.\nSour", "At nine.");
    }

    #[test]
    fn showing_more_gives_way_to_everything_else() {
        let now = Timestamp::from_secs(100);
        assert!(may_show(Traffic::default(), now));
        assert!(!may_show(Traffic { within_minute: EDITS_WITHIN, ..Traffic::default() }, now));
        assert!(!may_show(Traffic { held_until: Some(now.plus(EDIT_EVERY)), ..Traffic::default() }, now));
        assert!(may_show(Traffic { held_until: Some(now), ..Traffic::default() }, now));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_a_beginning_and_holds_no_open_tag(answer in r"([a-z .]{0,9}(\[source: m[0-9]\]|\[m1|【m1】|\(m2\)|\[|\]\()?){0,6}") {
            let shown = settled(&answer);
            prop_assert!(answer.starts_with(shown));
            let checked = linked(shown, CitationBasis { given: &[], labels: &Labels::default(), ask: None });
            prop_assert!(!checked.contains("[source"), "{checked}");
        }
    }
}
