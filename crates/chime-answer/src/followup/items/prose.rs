//! Reads items outside lists: names in bold, in quotes, or after words such as "try".

use std::sync::LazyLock;

use regex::Regex;

use crate::followup::items::line::{INSIDE, clean_title, item, makers, price, starts_like_name};
use crate::followup::tables::{FollowUpTable, FollowUpTables, PhraseRow};
use crate::followup::words::tokens;
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
        let after = sentence.get(found[offer.to - 1].end..).unwrap_or_default();
        let names: Vec<regex::Match<'_>> = names_in(after, table).collect();
        for (at, name) in names.iter().enumerate() {
            let until = names.get(at + 1).map_or(after.len(), regex::Match::start);
            if let Some(title) = clean_title(name.as_str()) {
                let rest = after.get(name.end()..until).unwrap_or_default();
                let (people, price) = (makers(rest, "", kind), price(rest));
                items.push(Suggested { title, people, price, ..Suggested::default() });
            }
        }
    }
    items
}

/// Returns the runs of capitalised words and numbers in `text`, without names of places, times, people or units.
fn names_in<'t>(text: &'t str, table: &FollowUpTable) -> impl Iterator<Item = regex::Match<'t>> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        let inside = INSIDE.join("|");
        pattern(&format!(r"\p{{Lu}}[^\s,;:.!?()–—]*(?:\s+(?:(?:{inside})\s+){{0,2}}[\p{{Lu}}\d][^\s,;:.!?()–—]*)*"))
    });
    NAME.find_iter(text).filter(|name| {
        let mut before = text.get(..name.start()).unwrap_or_default().split_whitespace().rev();
        let is_preposition = |word: Option<&str>| word.is_some_and(|word| table.has(PhraseRow::Prepositions, word));
        let last = before.next();
        // "From the BBC"
        let is_article = last.is_some_and(|word| table.has(PhraseRow::Articles, word));
        let is_aside = is_preposition(last) || is_article && is_preposition(before.next());
        // "8 Euro"
        let is_unit = last.is_some_and(|word| word.ends_with(char::is_numeric));
        !is_aside && !is_unit && !table.has(PhraseRow::NotName, name.as_str())
    })
}
