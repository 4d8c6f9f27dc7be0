//! Members in summaries. They are stored as markers such as `{u7}`, which are replaced by the current names for
//! display.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::words::is_surname;
pub use chime_core::named;
use chime_core::{pattern, split_words};

static MEMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\{u(\d{1,9})\}"));

static AUTHOR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<before>^| – )\{u\d{1,9}\}: "));

/// Spellings of markers that models use: `u7`, `@u7`, `[u7]`, `{ U7 }`.
static LOOSE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[\{\[<]\s*@?u(?P<within>\d{1,9})\s*[\}\]>]|@?\bu(?P<bare>\d{1,9})\b"));

/// Names of members, with the numbers that replace them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NumberedNames {
    /// Names by which members are called, in lower case; usernames also with `@`.
    pub called: BTreeMap<String, u32>,
    /// Names as the members write them.
    pub written: BTreeMap<String, u32>,
}

/// Changes all spellings of markers to `{u7}`, for the member numbers in `known`.
pub fn with_markers(text: &str, known: &BTreeSet<u32>) -> String {
    let marked = |found: &Captures<'_>| {
        let number =
            found.name("within").or_else(|| found.name("bare")).and_then(|digits| digits.as_str().parse().ok());
        number.filter(|number| known.contains(number)).map_or_else(|| found[0].to_owned(), marker)
    };
    LOOSE.replace_all(text, marked).into_owned()
}

pub fn marker(number: u32) -> String {
    format!("{{u{number}}}")
}

pub fn numbers(text: &str) -> Vec<u32> {
    MEMBER.captures_iter(text).filter_map(|found| found[1].parse().ok()).collect()
}

/// Removes the names of the authors of an extract: at its beginning, and before the answer to a question.
pub fn without_authors(text: &str) -> String {
    AUTHOR.replace_all(text, "$before").into_owned()
}

/// Returns what each author of an extract said: a question and its answer, or one text.
pub fn said_in(text: &str) -> impl Iterator<Item = &str> {
    AUTHOR.split(text).filter(|said| !said.is_empty())
}

/// Returns `true` if a text quotes its author, as extracts do, and a model's summaries do not.
pub fn has_author(text: &str) -> bool {
    AUTHOR.find(text).is_some_and(|author| author.start() == 0)
}

/// Replaces the markers of members by `@`, so that what a text says is judged without them.
pub fn unnamed(text: &str) -> String {
    MEMBER.replace_all(text, "@").into_owned()
}

/// Replaces by the member's marker each `@username` that is in `numbers` with its `@`, and a name in `numbers` that
/// calls a member ("Ann: …", "…, Ann?").
pub fn without_names(text: &str, numbers: &BTreeMap<String, u32>) -> String {
    let number = |name: &str| numbers.get(&name.to_lowercase()).map(|number| marker(*number));
    let mut text = text.to_owned();
    let first = text.split_once([':', ',']).filter(|(_, rest)| rest.starts_with(' ')).map(|(name, _)| name.len());
    if let Some(end) = first
        && let Some(marker) = number(&text[..end])
    {
        text.replace_range(..end, &marker);
    }
    let end = text.trim_end_matches(['.', '!', '?', ' ']).len();
    if let Some(start) = text[..end].rfind(", ").map(|at| at + 2)
        && let Some(marker) = number(&text[start..end])
    {
        text.replace_range(start..end, &marker);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('@') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).map_or(from.len(), |end| end + 1);
        match numbers.get(&from[..end].to_lowercase()) {
            Some(number) => out.push_str(&marker(*number)),
            None => out.push_str(&from[..end]),
        }
        rest = &from[end..];
    }
    out.push_str(rest);
    out
}

/// Replaces by the member's marker each name in `numbers` that stands alone, or before an `s` or an apostrophe. A first name
/// before a surname that no member has is another person's ("James Mangold").
pub fn without_mentions(text: &str, numbers: &BTreeMap<String, u32>) -> String {
    let is_outside = |c: char| !(c.is_alphanumeric() || c == '_');
    let ends_word = |rest: &str| rest.strip_prefix(['s', 'S']).unwrap_or(rest).chars().next().is_none_or(is_outside);
    let (mut out, mut done, mut at) = (String::with_capacity(text.len()), 0, 0);
    for piece in text.split_inclusive(char::is_whitespace) {
        let start = at + piece.len() - piece.trim_start_matches(is_outside).len();
        at += piece.len();
        let word = piece.trim_matches(is_outside);
        if start < done || word.is_empty() {
            continue;
        }
        // Names of several words stand next to each other in the map, by their first word.
        let first = format!("{word} ");
        let longer = numbers.range(first.clone()..).take_while(|(name, _)| name.starts_with(&first));
        let longer = longer.filter(|(name, _)| text[start..].strip_prefix(name.as_str()).is_some_and(ends_word));
        // "Anns", "Ann's", "Ayşe'ye".
        let before_apostrophe = word.split_once(['\'', '’']).map(|(name, _)| name);
        let forms = [Some(word), word.strip_suffix(['s', 'S']), before_apostrophe];
        let mut single = forms.into_iter().flatten().filter_map(|form| numbers.get_key_value(form));
        // Only a space stands between a first name and a surname.
        let next = text[start + word.len()..].strip_prefix(' ').unwrap_or_default();
        let is_other = || !numbers.contains_key(split_words(next).next().unwrap_or_default()) && is_surname(next, text);
        if let Some((name, number)) = longer.last().or_else(|| single.next().filter(|_| !is_other())) {
            out.push_str(&text[done..start]);
            out.push_str(&marker(*number));
            done = start + name.len();
        }
    }
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_member_has_the_new_name_and_a_forgotten_one_none() {
        let names = BTreeMap::from([(7, "Ana".to_owned())]);
        assert_eq!(named("{u7} asked {u8}, not {user}", &names), "Ana asked somebody, not {user}");
        assert_eq!(numbers("{u7} asked {u8}"), [7, 8]);
    }

    #[test]
    fn numbers_of_members_become_markers_however_they_are_written() {
        let known = BTreeSet::from([1, 2, 3]);
        assert_eq!(
            with_markers("u1, @u2: [u3] {U1} { u2 } (u3) {u1}", &known),
            "{u1}, {u2}: {u3} {u1} {u2} ({u3}) {u1}"
        );
        assert_eq!(with_markers("the u7 line, menu1, u4", &known), "the u7 line, menu1, u4");
    }

    #[test]
    fn names_that_are_mentioned_become_markers() {
        let names = [("VVD", 3), ("initramfs", 4), ("Ann Lee", 6), ("Ann", 6)];
        let numbers = names.into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
        for (text, expected) in [
            ("<VVD> the initramfs' key, VVDs and initramfs's", "<{u3}> the {u4}' key, {u3}s and {u4}'s"),
            ("vvd, see https://example.org/VVD, or VVD_2", "vvd, see https://example.org/VVD, or VVD_2"),
            ("Ann Lee asks\n(Ann), {u3}", "{u6} asks\n({u6}), {u3}"),
            ("née “VVD”…", "née “{u3}”…"),
            ("Ann Lees tent, Ann Leed, (Ann Lee)", "{u6}s tent, Ann Leed, ({u6})"),
            ("the new Ann Mangold film, ask Ann Friday", "the new Ann Mangold film, ask {u6} Friday"),
            (
                "Ann, Lea and Ann VVD: hat Ann Zeit für die Party?",
                "{u6}, Lea and {u6} {u3}: hat {u6} Zeit für die Party?",
            ),
        ] {
            assert_eq!(without_mentions(text, &numbers), expected);
        }
    }

    #[test]
    fn names_by_which_members_are_called_become_markers() {
        let numbers = BTreeMap::from([("@ana_k".to_owned(), 7), ("ana_k".to_owned(), 7)]);
        assert_eq!(without_names("@Ana_K and @bob: mail a@b.c @ana_k", &numbers), "{u7} and @bob: mail a@b.c {u7}");
        assert_eq!(without_names("@", &numbers), "@");
        assert_eq!(without_names("née @ana_k…", &numbers), "née {u7}…");
        assert_eq!(without_names("Ana_K: can you? @x", &numbers), "{u7}: can you? @x");
        assert_eq!(without_names("Ana_K, née: ana_k", &numbers), "{u7}, née: ana_k");
        assert_eq!(without_names("Where is it, Ana_K?", &numbers), "Where is it, {u7}?");
        assert_eq!(without_names("at ana_k: 5, ana_k:4", &numbers), "at ana_k: 5, ana_k:4");
    }
}
