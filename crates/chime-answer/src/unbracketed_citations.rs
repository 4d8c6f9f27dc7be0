//! Finds citations without brackets: `as m17 says`. Other words have the same form: the m4 motorway, `m5.large`, 20 m2.
//! Text that is not certainly a citation is not changed.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::material::{CitationMaterial, TAG, is_written};
use chime_core::SourceId;

/// Matches a tag or an address, so that the ids in them are skipped; or an id, or several that are joined: `m4-m7`.
static ID: LazyLock<Regex> = LazyLock::new(id);
/// Matches the text between two names if it is only a joining word such as "and", perhaps with an article.
static JOINT: LazyLock<Regex> = LazyLock::new(joint);

/// Articles: "the m17" is a thing and not a message. Words that mean "to", "of" or "that" in another language are left
/// out.
const ARTICLES: [&str; 17] = [
    "the", "an", "your", "our", "my", "der", "die", "das", "den", "dem", "ein", "eine", "einen", "einem", "einer",
    "het", "een",
];
/// Articles of languages in which a message may have an article ("el m17"). They count only before ids that were not in
/// the prompt.
const OTHER_ARTICLES: [&str; 15] =
    ["el", "la", "los", "las", "un", "una", "le", "les", "une", "du", "um", "uma", "il", "gli", "uno"];

/// Returns `prose` with its unbracketed ids in tags. An id that was not in the prompt is tagged too, so that it is
/// removed later: it means nothing to members.
pub fn in_tags(prose: &str, material: CitationMaterial<'_>) -> String {
    // End of the last word that has the form of an id but is none.
    let mut last_thing: Option<usize> = None;
    ID.replace_all(prose, |found: &Captures<'_>| {
        let whole = || found[0].to_owned();
        let Some(token) = found.name("ids") else { return whole() };
        let ids: Vec<SourceId> = token.as_str().split(['-', '–', '/']).filter_map(SourceId::parse).collect();
        let Some(id) = ids.first().copied() else { return whole() };
        let (before, behind) = (&prose[..token.start()], &prose[token.end()..]);
        let goes_on = last_thing.is_some_and(|end| JOINT.is_match(&prose[end..token.start()]));
        let was_shown =
            |id: &SourceId| material.ask == Some(*id) || material.given.iter().any(|source| source.id == *id);
        let is_known = ids.iter().any(was_shown);
        let is_thing = is_part_of_a_name(before, behind)
            || is_measure(before, id)
            || has_article(before, &ARTICLES)
            || !is_known && (has_article(before, &OTHER_ARTICLES) || goes_on || id.number <= HIGHEST_UNIT)
            || is_written(material.given, token.as_str());
        if is_thing {
            last_thing = Some(token.end());
            return whole();
        }
        let ids: Vec<String> = ids.iter().map(SourceId::to_string).collect();
        format!("[source: {}]", ids.join(", "))
    })
    .into_owned()
}

/// Highest number of an id that may be a unit of area or volume: `m2`, `m3`.
const HIGHEST_UNIT: u32 = 3;

fn is_measure(before: &str, id: SourceId) -> bool {
    id.number <= HIGHEST_UNIT && before.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

/// Returns `true` if the text between `before` and `behind` is part of a longer name: `m5.large`, `site/m4`, `m4-3`.
pub fn is_part_of_a_name(before: &str, behind: &str) -> bool {
    let mut next = behind.chars();
    let is_joined = next.next().is_some_and(|c| matches!(c, '.' | '-' | '_' | '/' | '=' | '@'))
        && next.next().is_some_and(char::is_alphanumeric);
    is_joined || before.ends_with(['/', '@', '#', '.', '=', '-', '_', '$'])
}

fn has_article(before: &str, articles: &[&str]) -> bool {
    let Some(words) = before.strip_suffix(' ') else { return false };
    let word = words.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    articles.contains(&word.as_str())
}

#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test of this file compiles it")]
fn id() -> Regex {
    Regex::new(&format!(r"(?i:{TAG})|\w+://\S+|\b(?P<ids>m[0-9]{{1,9}}(?:[–/-]m[0-9]{{1,9}})*)\b"))
        .expect("a valid pattern")
}

#[expect(clippy::expect_used, reason = "the pattern is a constant, and every test of this file compiles it")]
fn joint() -> Regex {
    Regex::new(r"(?i)\A\s*(?:[,/&+]|and|or|und|oder|y|o|et|ou|e|en|of)\s*(?:[[:alpha:]]{1,4}\s+)?\z")
        .expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Labels;
    use chime_core::{Citable, Timestamp};

    #[track_caller]
    fn check(prose: &str, expected: &str) {
        let given: Vec<Citable> = [4, 5, 17]
            .map(|number| Citable {
                id: SourceId::message(number),
                name: "Ana".to_owned(),
                sent_at: Timestamp::from_secs(0),
                text: "hello".to_owned(),
                link: None,
                rests_on: Vec::new(),
            })
            .into();
        assert_eq!(in_tags(prose, CitationMaterial { given: &given, labels: &Labels::default(), ask: None }), expected);
    }

    #[test]
    fn an_id_that_was_given_is_a_citation() {
        check("At nine, as m17 says, m4.", "At nine, as [source: m17] says, [source: m4].");
        check("At nine m4, m5 and m17", "At nine [source: m4], [source: m5] and [source: m17]");
        check("según la m17", "según la [source: m17]");
        check(
            "Rui respondeu a m17, it seems that m4 is it",
            "Rui respondeu a [source: m17], it seems that [source: m4] is it",
        );
        check("as in m4-m17, m5/m17", "as in [source: m4, m17], [source: m5, m17]");
    }

    #[test]
    fn one_that_was_not_given_is_to_be_taken_out() {
        check("At nine, as m99 says.", "At nine, as [source: m99] says.");
    }

    #[test]
    fn things_that_are_called_so_stay() {
        for prose in [
            "Take an m5.large or an m4.large; m4.xlarge costs more.",
            "Take the m4 to junction 3, then the m25 south.",
            "An m10 nut, the m50 and m6 mark ii.",
            "por la m30 hasta Madrid",
            "nimm die m4 bis zur Ausfahrt",
            "20 m2, 3 €/m3, m2",
            "https://x.example/m17 and repo/m17",
        ] {
            check(prose, prose);
        }
    }
}
