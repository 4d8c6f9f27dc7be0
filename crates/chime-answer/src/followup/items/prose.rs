//! Reads items outside lists: names in bold, in quotes, or after words such as "try".

use std::sync::LazyLock;

use regex::Regex;

use crate::followup::items::line::{INSIDE, clean_title, item, makers, price, starts_like_name};
use crate::followup::tables::{FollowUpTable, FollowUpTables, PhraseRow, TokenSpan};
use crate::followup::words::{FoldedToken, tokens};
use crate::pattern;
use chime_core::{Suggested, sentences};

/// Maximum number of words of a name in quotes.
const QUOTED_WORDS: usize = 10;

/// Returns items whose names are in bold. Price and people are read from the rest of the line up to the next name.
pub fn bold(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    static BOLD: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:\*\*|__)([^*\n]+?)(?:\*\*|__)"));
    marked(answer, &BOLD, kind, |text| !text.ends_with(':') && starts_like_name(text))
}

/// Returns items whose names are in quotes or italics.
pub fn quoted(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"[“„"]([^“”„"\n]+)[”“"]|«([^»\n]+)»|\*([^*\n]+)\*|\b_([^_\n]+)_\b"#));
    let is_name = |text: &str| starts_like_name(text) && text.split_whitespace().count() <= QUOTED_WORDS;
    marked(answer, &QUOTED, kind, |text| is_name(text) && !text.ends_with(['?', '!', ':']))
}

/// Returns the items whose names match `pattern` and for which `is_name` returns `true`.
fn marked(answer: &str, pattern: &Regex, kind: Option<&str>, is_name: impl Fn(&str) -> bool) -> Vec<Suggested> {
    let found: Vec<regex::Captures<'_>> = pattern.captures_iter(answer).collect();
    let inner =
        |captures: &regex::Captures<'_>| captures.iter().skip(1).flatten().next().map(|it| it.as_str().to_owned());
    let starts: Vec<(usize, usize)> =
        found.iter().filter_map(|it| it.get(0)).map(|whole| (whole.start(), whole.end())).collect();
    let mut items = Vec::new();
    for (at, captures) in found.iter().enumerate() {
        let Some(name) = inner(captures).filter(|name| is_name(name.trim())) else { continue };
        let end = starts.get(at).map_or(0, |(_, end)| *end);
        let until = starts.get(at + 1).map_or(answer.len(), |(start, _)| *start);
        let rest = answer.get(end..until).unwrap_or_default().lines().next().unwrap_or_default();
        items.extend(item(&format!("**{}**{rest}", name.trim()), kind));
    }
    items
}

/// Returns items named after words such as "try" or "I recommend", in the same sentence.
pub fn offered(answer: &str, kind: Option<&str>) -> Vec<Suggested> {
    let mut items: Vec<Suggested> = Vec::new();
    for sentence in sentences(answer) {
        let found = tokens(sentence);
        let offering = FollowUpTables::shipped()
            .iter()
            .find_map(|table| Some((table, *table.find(PhraseRow::Offers, &found).first()?)));
        let Some((table, offer)) = offering else { continue };
        let names = names_after(sentence, &found, table, offer);
        for (at, name) in names.iter().enumerate() {
            let end = found.get(name.to - 1).map_or(0, |last| last.end);
            let until =
                names.get(at + 1).and_then(|next| found.get(next.from)).map_or(sentence.len(), |next| next.start);
            if let Some(title) = clean_title(&name.written(sentence, &found)) {
                let rest = sentence.get(end..until).unwrap_or_default();
                let (people, price) = (makers(rest, "", kind), price(rest));
                items.push(Suggested { title, people, price, ..Suggested::default() });
            }
        }
    }
    items
}

/// Returns the positions of runs of capitalised words after `offer`, without names of places, times or people.
fn names_after(sentence: &str, found: &[FoldedToken], table: &FollowUpTable, offer: TokenSpan) -> Vec<TokenSpan> {
    let is_big = |at: usize| {
        let written = found.get(at).map(|token| token.written(sentence)).unwrap_or_default();
        written.starts_with(|c: char| c.is_uppercase())
    };
    let ends = |at: usize| found.get(at).is_none_or(|token| token.ends_clause);
    let mut names = Vec::new();
    let mut at = offer.to;
    while at < found.len() {
        if !is_big(at) {
            at += 1;
            continue;
        }
        let from = at;
        let mut to = at + 1;
        loop {
            let inside = found.get(to).is_some_and(|token| INSIDE.contains(&token.word.as_str()));
            let number = found.get(to).is_some_and(|token| token.word.chars().all(|c| c.is_ascii_digit()));
            match () {
                () if ends(to - 1) => break,
                () if is_big(to) || number => to += 1,
                () if inside && is_big(to + 1) && !ends(to) => to += 2,
                () if inside && to + 2 < found.len() && is_big(to + 2) => to += 3,
                () => break,
            }
        }
        let before = from.checked_sub(1).and_then(|before| found.get(before)).map(|token| token.word.clone());
        let is_aside = before.is_some_and(|word| from > offer.to && table.has(PhraseRow::Prepositions, &word));
        let is_known =
            to - from == 1 && found.get(from).is_some_and(|token| table.has(PhraseRow::NotName, &token.word));
        if !is_aside && !is_known {
            names.push(TokenSpan { from, to });
        }
        at = to;
    }
    names
}
