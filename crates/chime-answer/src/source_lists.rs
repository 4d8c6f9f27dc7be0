//! Removes a list of sources that the model itself added to its answer: `Sources: m1, m2`, in any supported language,
//! as bullets or as footnotes. Its ids are added to our own source line.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::citation_forms::with_ascii_numbers;
use crate::pattern_in_any_case;
use chime_core::SourceId;

/// Alternatives of the heading of such a list, in the supported languages and some more.
pub const LABEL: &str = "sources?|citations?|references?|quellen?|belege|fuentes?|referencias?|références?|fontes?|referências?|fonti\
    |riferimenti|источники?|ссылки|джерел[ао]|посилання|kaynak(?:lar|ça)?|allika[ds]|viited|bron(?:nen)?|źródł[ao]|källor|lähteet";

/// Matches the heading of a list, on a line of its own, where the colon may be missing, or after a sentence.
static BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern_in_any_case(&format!(
        r"(?m)(?:^[*_#> \t(]*|(?P<end>[.!?…\])])[ \t]+\(?)(?:{LABEL})[*_]*[ \t]?(?:[:：][*_]*|$)"
    ))
});
/// Matches a heading in any other language, recognised by what follows it: only ids.
static BEGIN_OF_IDS: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(r"(?m)^[*_#> \t(]*\p{L}[\p{L}\p{M}\x{200c}' -]{1,30}[*_]*[ \t]?[:：][*_]*"));
/// Matches a line that contains only ids, each optionally with a name in round brackets.
static OF_IDS: LazyLock<Regex> = LazyLock::new(|| {
    let id = id();
    let item = format!(r"{id}(?:\s*\([^()\n]{{0,60}}\))?");
    pattern_in_any_case(&format!(r"\A[\s*•·-]*(?:{item}{JOINT})+[.\s)]*\z"))
});
/// Matches what stands between ids.
const JOINT: &str = r"(?:[\s,;·&،、，；]|\b(?:and|und|y|et|e|и|і|та|ve|ja|en|i|o|och)\b)*";
/// Matches bare numbers beside the heading, as the prompt for strict chats asks for: `1, 4`.
static OF_BARE_NUMBERS: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(&format!(r"\A\s*(?:(?:id\s?|#)?[0-9]{{1,3}}\b{JOINT})+[.\s)]*\z")));
static BARE_NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case("[0-9]{1,3}"));
/// Matches a line about one source: `- m1: Ana, ferry at nine`.
static OF_ONE: LazyLock<Regex> = LazyLock::new(|| {
    let id = id();
    pattern_in_any_case(&format!(r"\A\s*(?:[-*•·]|\d{{1,2}}[.)])?\s*{id}(?:\s*[,;&]?\s*{id})*\s*[:(–—-].{{0,200}}\z"))
});
/// Matches a line about a message by its number in the prompt: `[4] Ana: ferry at nine`. A list of literature has
/// commas.
static OF_NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(r"\A[\s*•·-]*\[[0-9]{1,3}\]\s*[^\n:,.\[\]]{1,30}(?::.{0,200})?\z"));
/// Matches a footnote: `[^1]: m1`, optionally with words about the message.
static NOTE: LazyLock<Regex> = LazyLock::new(|| {
    let id = id();
    pattern_in_any_case(&format!(
        r"(?m)^[ \t]*(?:[-*•]\s*)?\[\^?(?P<number>[0-9]{{1,3}})\]:[ \t]*(?P<ids>{id}(?:[ \t]*[,;&]?[ \t]*{id})*)[ \t]*(?:[:(–—][^\n]{{0,160}})?$\n?"
    ))
});
/// Matches a reference to a footnote.
static POINTER: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(r"\[\^?(?P<number>[0-9]{1,3})\]"));
static LISTED_ID: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(&format!(r"\b{}\b|\[(?P<number>[0-9]{{1,3}})\]", SourceId::PATTERN)));
static EMPTY_LABEL: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(&format!(r"(?:\A|\n)[*_#> \t]*(?:{LABEL})[*_]*[ \t]?(?:[:：][*_]*)?\s*\z")));

/// Returns `answer` without the list of sources at its end, and the ids in that list. References to footnotes are
/// replaced by citations.
pub fn split(answer: &str) -> (String, Vec<String>) {
    let answer = with_notes_in_place(&with_ascii_numbers(answer));
    match place(&answer) {
        Some((start, from)) => (answer[..start].to_owned(), ids(&answer[from..])),
        None => (answer, Vec::new()),
    }
}

/// Returns the text before the list of sources at the end of `answer`, and the list with its heading.
pub fn parts(answer: &str) -> (&str, &str) {
    answer.split_at(place(answer).map_or(answer.len(), |(start, _)| start))
}

/// Returns the positions of the heading of the list at the end of `answer`, and of its first entry.
fn place(answer: &str) -> Option<(usize, usize)> {
    let list = BEGIN.captures_iter(answer).filter_map(|begin| {
        let whole = begin.get(0)?;
        let is_list = is_list(&answer[whole.end()..]);
        is_list.then(|| (begin.name("end").map_or(whole.start(), |end| end.end()), whole.end()))
    });
    list.last().or_else(|| place_of_ids(answer))
}

/// Returns the positions of a list with a heading in any language: the last lines, of which the first has the heading,
/// and all have only ids. A line of the same form before it shows that they are entries: "Ana: [4]".
fn place_of_ids(answer: &str) -> Option<(usize, usize)> {
    let is_id_line = |line: &str| OF_IDS.is_match(line) && !OF_BARE_NUMBERS.is_match(line);
    let is_entry = |line: &str| BEGIN_OF_IDS.find(line).is_some_and(|head| is_id_line(&line[head.end()..]));
    let begin = BEGIN_OF_IDS.find_iter(answer).last()?;
    let mut lines = answer[begin.end()..].lines().filter(|line| !line.trim().is_empty()).peekable();
    let before = answer[..begin.start()].lines().rev().find(|line| !line.trim().is_empty())?;
    let is_list = lines.peek().is_some() && lines.all(is_id_line) && !is_entry(before);
    is_list.then(|| (begin.start(), begin.end()))
}

/// Returns `true` if the text after a heading is a list of sources. On the line of the heading, only ids are allowed;
/// on later lines, words may follow an id.
fn is_list(text: &str) -> bool {
    let (beside, below) = text.split_once('\n').unwrap_or((text, ""));
    let is_item = |line: &str| {
        OF_IDS.is_match(line) || OF_ONE.is_match(line) || OF_NUMBER.is_match(line) && !line.contains("://")
    };
    let is_empty = |line: &str| line.trim().is_empty();
    (is_empty(beside) || OF_IDS.is_match(beside) || OF_BARE_NUMBERS.is_match(beside))
        && below.lines().all(|line| is_empty(line) || is_item(line))
        && !is_empty(text)
}

fn with_notes_in_place(answer: &str) -> String {
    let notes: BTreeMap<String, Vec<String>> =
        NOTE.captures_iter(answer).map(|note| (note["number"].to_owned(), ids(&note["ids"]))).collect();
    if notes.is_empty() {
        return answer.to_owned();
    }
    let body = NOTE.replace_all(answer, "");
    let body = EMPTY_LABEL.replace(&body, "");
    POINTER
        .replace_all(body.trim_end(), |found: &Captures<'_>| match notes.get(&found["number"]) {
            Some(ids) => format!("[source: {}]", ids.join(", ")),
            None => found[0].to_owned(),
        })
        .into_owned()
}

/// Returns the pattern of an id, perhaps in brackets.
fn id() -> String {
    format!(r"(?:\[?(?:sources?:\s*)?\b{}\b\]?|\[[0-9]{{1,3}}\])", SourceId::PATTERN)
}

fn ids(text: &str) -> Vec<String> {
    let (beside, below) = text.split_once('\n').unwrap_or((text, ""));
    if OF_BARE_NUMBERS.is_match(beside) {
        let numbers = BARE_NUMBER.find_iter(beside).map(|number| number.as_str().to_owned());
        return numbers.chain(ids(below)).collect();
    }
    let id = |found: Captures<'_>| found.name("number").or(found.get(0)).map(|id| id.as_str().to_owned());
    LISTED_ID.captures_iter(text).filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, body: &str, listed: &[&str]) {
        let (found, ids) = split(answer);
        assert_eq!(
            (found.trim_end(), ids.iter().map(String::as_str).collect::<Vec<_>>()),
            (body, listed.to_vec()),
            "{answer}"
        );
    }

    #[test]
    fn a_list_at_the_end_is_taken_off_in_any_language_and_form() {
        for list in [
            "Sources: m1, m2",
            "**Sources:**\n- [source: m1]\n- [m2]",
            "Quellen: m1 und m2.",
            "Sources : m1, m2",
            "Fuentes: m1, m2",
            "Источники: m1, m2",
            "Sources: m1 (Ana), m2 (Bo)",
            "Sources:\n- m1: Ana, ferry at nine\n- m2 – Bo",
        ] {
            check(&format!("At nine [source: m1].\n\n{list}"), "At nine [source: m1].", &["m1", "m2"]);
        }
        let list = "**Sources**\n- [4] Ana: The ferry leaves at nine.\n- [12] Bo";
        check(&format!("At nine.\n\n{list}"), "At nine.", &["4", "12"]);
        check("At nine [source: m1]. Sources: m1, m2", "At nine [source: m1].", &["m1", "m2"]);
        check("Sources: m3", "", &["m3"]);
        for list in [
            "Sources: 1, 4",
            "**Sources:** 1 and 4.",
            "Quellen: 1, 4",
            "(Sources: 1, 4)",
            "Sources: id1, id4",
            "Source: #1, #4",
        ] {
            check(&format!("At nine [4].\n\n{list}"), "At nine [4].", &["1", "4"]);
        }
        check("At nine [4]. (Sources: [1], [4])", "At nine [4].", &["1", "4"]);
        check("At nine [4].\n\nSources: [4], [12]", "At nine [4].", &["4", "12"]);
        check("At nine.\n\nSources:\n[4] Ana: The ferry leaves at nine.\n[12] Bo", "At nine.", &["4", "12"]);
    }

    #[test]
    fn a_heading_in_any_language_is_known_by_the_ids_behind_it() {
        for list in
            ["منابع: [4]، [12]", "منابع: [۴]، [۱۲]", "来源：[4]、[12]", "Zdroje: [4], [12]", "מקורות:\n[4]\n[12]"]
        {
            check(&format!("At nine [4].\n{list}"), "At nine [4].", &["4", "12"]);
        }
        for answer in
            ["Paid so far:\nAna: [4]\nBen: [12]", "At nine.\nZimmer: 4, 12", "Ana: [4]", "At nine.\nBen: key [4]"]
        {
            check(answer, answer, &[]);
        }
    }

    #[test]
    fn footnotes_cite_where_they_are_pointed_at() {
        check("At nine[^1], lot is 12[^2].\n\n[^1]: m1\n[^2]: m2", "At nine[source: m1], lot is 12[source: m2].", &[]);
        check("At nine [1].\n\nReferences:\n- [1]: m1\n", "At nine [source: m1].", &[]);
    }

    #[test]
    fn what_only_looks_like_a_list_stays() {
        for answer in [
            "A.\nSources: the town hall says so",
            "A.\nSources:",
            "A.\nSources: 2027",
            "A.\nSources: 3 members",
            "A.\n## Sources\nThe town hall says so",
            "See [1] and [^2].",
            "The sources: m1 says so, not m2.",
            "At nine. Sources: m1 – the ferry's own table, so hurry",
            "[1] m5.large costs more than you think",
            "[1]: m5 bolts are in the box",
            "At nine.\nSources:\n[1] https://ferry.example.org",
            "As in [1].\nReferences:\n[1] Vaswani et al., Attention is all you need, 2017",
        ] {
            check(answer, answer, &[]);
        }
    }
}
