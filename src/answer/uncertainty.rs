//! How unsure the model says it is: a tag at the end of its answer, which members do not see.

use std::sync::LazyLock;

use regex::Regex;

use crate::domain::Uncertainty;

/// `[uncertainty: low]`, with the line break before it.
static TAG: LazyLock<Regex> = LazyLock::new(tag);

/// `answer` without its tags, and what the last of them says.
pub fn split(answer: &str) -> (String, Option<Uncertainty>) {
    let said = TAG.captures_iter(answer).last().and_then(|found| Uncertainty::parse(&found[1]));
    (TAG.replace_all(answer, "").trim().to_owned(), said)
}

#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test of this file compiles it")]
fn tag() -> Regex {
    Regex::new(r"(?i)\s*[`*_]*[\[(【]\s*uncertainty\s*[:=]\s*[`*_]*(low|medium|high)[`*_]*\s*[\])】][`*_]*")
        .expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, text: &str, said: Option<Uncertainty>) {
        assert_eq!(split(answer), (text.to_owned(), said));
    }

    #[test]
    fn the_tag_is_read_and_taken_out() {
        check("On Friday [source: m1].\n[uncertainty: low]", "On Friday [source: m1].", Some(Uncertainty::Low));
        check("On Friday. (Uncertainty: **HIGH**)", "On Friday.", Some(Uncertainty::High));
        check("A. [uncertainty: low]\n\nB. `[uncertainty: medium]`", "A.\n\nB.", Some(Uncertainty::Medium));
    }

    #[test]
    fn other_words_stay() {
        check(
            "There is some uncertainty: low tide is at nine.",
            "There is some uncertainty: low tide is at nine.",
            None,
        );
        check("[uncertainty: perhaps]", "[uncertainty: perhaps]", None);
    }
}
