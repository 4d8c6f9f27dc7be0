//! Parses one entry of a list: its title, people, price and link.
//!
//! The title is what is marked at the beginning (`**The Hobbit** by J.R.R. Tolkien`), else what is marked behind an
//! author (`J.R.R. Tolkien „Kääbik“`), else the text up to a separator (`The Hobbit – for readers`).

use std::sync::LazyLock;

use regex::Regex;

use crate::followup::names::{AND, PARTICLES, clean_name, is_valid_name};
use crate::followup::price_limit::number;
use crate::followup::tables::{FollowUpTables, NamedRow, PhraseRow};
use crate::followup::words::tokens;
use crate::grounding::without_source_links;
use crate::pattern;
use chime_core::trigger::Languages;
use chime_core::{Price, Suggested, clip};

/// Maximum number of words of a title; longer text is a sentence.
const TITLE_WORDS: usize = 12;
const TITLE_CHARS: usize = 100;
/// Small words inside names: "The Lord of the Rings", "Leib ja Aed".
pub const INSIDE: [&str; 20] = [
    "of", "the", "a", "in", "on", "at", "for", "to", "de", "del", "la", "le", "les", "du", "des", "der", "die", "das",
    "ja", "&",
];
/// Kinds of items that usually have an author or maker beside the title.
const MADE_BY: [&str; 6] = ["book", "film", "series", "song", "podcast", "game"];

/// List marker at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    None,
    Bullet,
    Number(u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListLine<'a> {
    pub indent: usize,
    pub marker: Marker,
    pub text: &'a str,
}

impl ListLine<'_> {
    /// Returns `true` for a heading: "**Fantasy**", "Cheaper ones:". "**Total: 31 €**" is none.
    pub fn is_heading(&self) -> bool {
        let text = self.text;
        let is_bold = || text.starts_with("**") && text.ends_with("**") && price(text).is_none();
        self.marker == Marker::None && (text.ends_with(':') || text.starts_with('#') || is_bold())
    }
}

/// Citation, in the form of the prompt or as a number in brackets.
static CITATION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s*\[(?:source:[^\]]*|\d+)\]"));
/// Entry with a number, which may be a heading or in bold.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:#{1,6}\s+)?(\*\*|__)?(\d{1,2})[.)]\s+(.+)$"));
/// Entry with a list mark or an emoji.
static BULLETED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*•‣▪–—]|\p{Extended_Pictographic}\x{FE0F}?)\s+(.+)$"));
/// Marked title at the beginning: a link, or in bold, quotes or italics.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?:\*\*|__)?(?:\[(?P<link>[^\]]+)\]\((?P<url>[^)\s]+)\)|\*\*(?P<bold>.+?)\*\*|__(?P<under>.+?)__|[“"„](?P<quote>[^”“"]+)[”“"]|«(?P<guillemets>[^»]+)»|\*(?P<italic>[^*]+)\*|_(?P<low>[^_]+)_)"#,
    )
});
/// End of a title without marks.
static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?:\s+[–—-]\s+|:\s|\s\(|\s\[|;\s|,?\s+by\s+\p{Lu}|,\s+(?:\p{Ll}|[\d€$£~])|[.!?]\s|\s+\|\s+|\s[“„«]|\s+->\s+|\s+→\s+)"#,
    )
});
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"https?://[^\s)>\]]+"));
/// Maker behind the title, after a word such as "by".
static BY_LINE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^[\s,:(–—-]*(?:(?:by|autor(?:ilt)?|von|de|par|от|автор|author|lavastaja|directed by|di|from(?:\s+the)?)\s*:?\s+|d['’])(?P<name>.+)$",
    )
});
/// Maker behind the title without such a word: "– Tolkien", "(Tolkien)".
static BESIDE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:[–—-]|,|\(|\|)\s*(?P<name>[^–—,(|)]+?)\s*(?:[–—,(|)]|$|\s-\s)"));
/// End of a maker's name.
static NAME_END: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?:\s+[–—-]\s+|\s*[,;:(|\n]|\s*\)|\.\s|\.$|\s+[\p{Ll}&]\p{L}*\s?)"));

pub fn without_tags(answer: &str) -> String {
    CITATION.replace_all(&without_source_links(answer), "").into_owned()
}

pub fn read_lines(answer: &str) -> Vec<ListLine<'_>> {
    answer.lines().filter(|line| !line.trim().is_empty()).map(read_line).collect()
}

fn read_line(raw: &str) -> ListLine<'_> {
    let text = raw.trim();
    let indent = raw.len() - raw.trim_start().len();
    let (marker, text) = if let Some(found) = NUMBERED.captures(text) {
        let number = found.get(2).and_then(|number| number.as_str().parse().ok()).unwrap_or(0);
        let rest = found.get(3).map_or("", |rest| rest.as_str());
        // For "**1. Title** …", `rest` still contains the closing bold mark.
        (Marker::Number(number), rest)
    } else if let Some(rest) = BULLETED.captures(text).and_then(|found| found.get(1)) {
        (Marker::Bullet, rest.as_str())
    } else {
        (Marker::None, text)
    };
    ListLine { indent, marker, text }
}

/// Parses the item of a text; `None` if the text is a sentence.
pub fn item(entry: &str, kind: Option<&str>) -> Option<Suggested> {
    parsed(entry, kind).filter(|item| !is_sentence(&item.title))
}

/// Parses the item of an entry of a list. A long title is shortened.
pub fn list_item(entry: &str, kind: Option<&str>) -> Option<Suggested> {
    let item = parsed(entry, kind)?;
    Some(Suggested { title: clip(&item.title, TITLE_CHARS).into_owned(), ..item })
}

/// Returns `true` if an entry begins with a name: marked, in capitals, or with a price behind it. A single marked word
/// inside a sentence is none: "**Fill** the kettle".
pub fn is_named(entry: &str) -> bool {
    let is_name = || parsed(entry, None).is_some_and(|item| item.price.is_some() || is_name(&item.title));
    match OPENING.find(entry) {
        Some(mark) => {
            let rest = entry.get(mark.end()..).unwrap_or_default().trim_start();
            !rest.starts_with(char::is_alphanumeric) || mark.as_str().contains(' ') && is_name()
        }
        None => is_name(),
    }
}

fn is_sentence(title: &str) -> bool {
    title.split_whitespace().count() > TITLE_WORDS || title.chars().count() > TITLE_CHARS
}

fn parsed(entry: &str, kind: Option<&str>) -> Option<Suggested> {
    let first = entry.lines().next()?.trim_start_matches(|c: char| !c.is_alphanumeric() && !"*_[“\"„«(".contains(c));
    let (title, url, rest) = opened(first).or_else(|| author_first(first)).unwrap_or_else(|| cut(first));
    let (title, within) = split_maker(&title, kind);
    let rest = format!("{within}{rest}");
    let title = tidy_title(&title)?;
    let below: String = entry.lines().skip(1).map(|line| format!("\n{line}")).collect();
    let whole = format!("{rest}{below}");
    let people = makers(&rest, &below, kind);
    let url = url.or_else(|| ADDRESS.find(&whole).map(|found| found.as_str().trim_end_matches(['.', ',']).to_owned()));
    Some(Suggested { title, people, price: price(&whole), url, ..Suggested::default() })
}

type EntryParts = (String, Option<String>, String);

/// Parses a title in bold, quotes, italics or a link at the start of an entry.
fn opened(text: &str) -> Option<EntryParts> {
    let found = OPENING.captures(text)?;
    let end = found.get(0)?.end();
    let title =
        ["link", "bold", "under", "quote", "guillemets", "italic", "low"].iter().find_map(|name| found.name(name))?;
    let url = found.name("url").map(|url| url.as_str().to_owned());
    // The title itself may be a link or in quotes inside the bold marks.
    if let Some((inner, inner_url, rest)) = opened(title.as_str()) {
        return Some((inner, url.or(inner_url), format!("{rest}{}", text.get(end..)?)));
    }
    Some((title.as_str().to_owned(), url, text.get(end..)?.to_owned()))
}

/// Parses an author before a title in quotes: "J. R. R. Tolkien „Kääbik“".
fn author_first(text: &str) -> Option<EntryParts> {
    let at = text.find(['“', '„', '«', '"'])?;
    let name = clean_name(text.get(..at)?.trim_end_matches([' ', ',', ':', '–', '—', '-']));
    if !looks_like_name(&name) {
        return None;
    }
    let (title, url, rest) = opened(text.get(at..)?)?;
    // "Book “Emma”"
    match FollowUpTables::shipped().name_of(NamedRow::Kinds, &name) {
        Some(_) => Some((title, url, rest)),
        None => Some((title, url, format!(" by {name},{rest}"))),
    }
}

/// Splits the text at the separator between title and description.
fn cut(text: &str) -> EntryParts {
    let end = SEPARATOR.find_iter(text).find(|found| !ends_short(text, found.start()) && !is_inside_title(text, found));
    let at = end.map_or(text.len(), |found| found.start());
    let (title, rest) = text.split_at(at);
    (title.to_owned(), None, rest.to_owned())
}

/// Returns `true` if a comma stands inside of a title ("garlic, ginger"), not after a name or before a price, or a
/// bracket with a part of the name ("Nothing Phone (2a)").
fn is_inside_title(text: &str, found: &regex::Match<'_>) -> bool {
    let (before, after) = text.split_at(found.start());
    if let Some((within, _)) = after.strip_prefix(" (").and_then(|rest| rest.split_once(')')) {
        return !is_remark(within);
    }
    let is_name = is_name(before) && !before.starts_with(|c: char| c.is_ascii_digit());
    found.as_str().starts_with(',') && !found.as_str().contains("by") && !is_name && price(after).is_none()
}

/// Returns `true` if the full stop at `at` belongs to an abbreviation: "J.", "St.".
fn ends_short(text: &str, at: usize) -> bool {
    let word = text.get(..at).and_then(|before| before.split_whitespace().last()).unwrap_or_default();
    text.get(at..).is_some_and(|rest| rest.starts_with('.'))
        && (word.chars().count() == 1 || matches!(word, "St" | "Mr" | "Mrs" | "Dr" | "No" | "Vol" | "vs"))
}

/// Splits a marked title that includes its maker, such as "The Hobbit by J.R.R. Tolkien", into the title and the maker.
/// The second part is empty if there is no maker.
fn split_maker(title: &str, kind: Option<&str>) -> (String, String) {
    let words: &[&str] = if is_made(kind) { &[" by ", " von ", " autorilt ", ", by "] } else { &[" by ", ", by "] };
    for word in words {
        if let Some((before, after)) = title.split_once(word)
            && looks_like_name(after.trim())
        {
            return (before.to_owned(), format!(" by {after},"));
        }
    }
    if let Some((before, after)) = title.split_once(" – ").or_else(|| title.split_once(" — "))
        && is_made(kind)
        && looks_like_name(after.trim())
    {
        return (before.to_owned(), format!(" by {after},"));
    }
    (title.to_owned(), String::new())
}

fn is_made(kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| MADE_BY.contains(&kind))
}

/// Returns `true` if words in brackets are no part of a name: a price or a year, but not "2a", the model of a phone.
fn is_remark(within: &str) -> bool {
    within.chars().count() > 3 || !within.chars().all(char::is_alphanumeric) || !within.contains(char::is_numeric)
}

/// Removes marks, years and trailing signs from a title; `None` if it is empty or a sentence.
pub fn clean_title(raw: &str) -> Option<String> {
    tidy_title(raw).filter(|title| !is_sentence(title))
}

fn tidy_title(raw: &str) -> Option<String> {
    const ENDS: [char; 8] = [':', '.', ',', ';', '–', '—', '-', ' '];
    const QUOTES: [char; 6] = ['"', '“', '”', '„', '«', '»'];
    let plain = raw.replace(['*', '`'], "");
    let mut title = plain.trim().trim_matches('_').trim_end_matches(ENDS);
    // A quoted word inside of a title keeps its marks.
    if title.starts_with(QUOTES) && title.ends_with(QUOTES) {
        title = title.trim_matches(QUOTES).trim();
    }
    // Removes a year, as in "The Hobbit (1937)".
    if let Some((before, _)) = title.rsplit_once(" (").filter(|(_, end)| end.strip_suffix(')').is_some_and(is_remark)) {
        title = before;
    }
    let title = title.trim_end_matches(ENDS).trim();
    title.contains(char::is_alphanumeric).then(|| title.to_owned())
}

/// Returns the authors or makers that the entry names after its title.
pub fn makers(rest: &str, below: &str, kind: Option<&str>) -> Vec<String> {
    let lines = below.lines().map(|line| line.trim().trim_start_matches(['-', '*', '•', ' ']));
    let named = std::iter::once(rest).chain(lines).filter_map(|line| BY_LINE.captures(line)?.name("name"));
    let begins = |word: &str| rest.trim_start_matches([' ', ',', '(', ':']).to_lowercase().starts_with(word);
    // Without a kind, "from Tallinn" is a place.
    let is_by = begins("by ") || is_made(kind) && (kind.is_some() || !begins("from "));
    for found in named.filter(|_| is_by) {
        let people = split_names(found.as_str());
        if !people.is_empty() {
            return people;
        }
    }
    let beside = BESIDE.captures(rest).and_then(|found| found.name("name")).map(|name| name.as_str());
    // Without a kind, only a whole name that is all that follows: "Emma – Jane Austen".
    let is_all = |name: &&str| rest.trim_end().ends_with(*name) && name.split_whitespace().count() > 1;
    let is_maker = |name: &&str| is_made(kind) && (kind.is_some() || is_all(name));
    beside.filter(is_maker).map(split_names).unwrap_or_default()
}

/// Returns the names at the start: "Neil Gaiman and Terry Pratchett – a comedy".
fn split_names(text: &str) -> Vec<String> {
    let mut people = Vec::new();
    let mut rest = text;
    loop {
        let found = NAME_END.find_iter(rest).find(|it| !is_inside_name(rest, it.start(), it.as_str()));
        let end = found.map_or(rest.len(), |it| it.start());
        let name = clean_name(&rest.get(..end).unwrap_or_default().replace(['*', '_', '“', '”', '„'], ""))
            .trim_end_matches('.')
            .to_owned();
        if !looks_like_name(&name) {
            break;
        }
        people.push(name);
        let joined = found.filter(|it| AND.contains(&it.as_str().trim()));
        match joined.and_then(|it| rest.get(it.end()..)) {
            Some(next) => rest = next,
            None => break,
        }
    }
    people
}

/// Returns `true` if the separator `found` at `at` is part of a name: the full stop after "J", or a particle such as
/// "van".
fn is_inside_name(text: &str, at: usize, found: &str) -> bool {
    let word = text.get(..at).and_then(|before| before.split([' ', '.']).next_back()).unwrap_or_default();
    PARTICLES.contains(&found.trim()) || found.starts_with('.') && word.chars().count() == 1
}

/// Returns `true` for one to five capitalised words or initials without digits. A single word needs at least four
/// letters, unless all of them are capitals ("BBC").
fn looks_like_name(name: &str) -> bool {
    let words: Vec<&str> = name.split_whitespace().collect();
    let is_word = |word: &&str| {
        word.starts_with(char::is_uppercase) && !word.chars().any(|c| c.is_ascii_digit()) || PARTICLES.contains(word)
    };
    (1..=5).contains(&words.len())
        && words.iter().all(is_word)
        && words.first().is_some_and(|word| word.starts_with(char::is_uppercase))
        && (words.len() > 1 || name.chars().count() > 3 || name.len() > 1 && name.chars().all(char::is_uppercase))
        && is_valid_name(name)
}

/// Returns `true` for a title whose words begin with capital letters or digits, apart from small words inside it, and
/// which is not a lone common word, such as "Nothing".
pub fn is_name(title: &str) -> bool {
    let words: Vec<&str> = title.split_whitespace().collect();
    let is_common = |word: &str| {
        Languages::shipped().is_stop_word_in(&word.to_lowercase(), "")
            || FollowUpTables::shipped().iter().any(|table| table.has(PhraseRow::NotName, word))
    };
    match words.as_slice() {
        [word] => starts_like_name(word) && !is_common(word),
        words => words.iter().enumerate().all(|(at, word)| starts_like_name(word) || at > 0 && INSIDE.contains(word)),
    }
}

pub fn starts_like_name(text: &str) -> bool {
    text.trim_start_matches(['“', '„', '"', '«', '*']).starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
}

/// Returns the first sum of money in a text.
pub fn price(text: &str) -> Option<Price> {
    let found = tokens(text);
    let code = |at: usize| {
        let token = found.get(at)?;
        // A single letter names a currency in a question, but is too ambiguous in an answer.
        let is_telling = token.word.chars().count() > 1 || !token.word.chars().all(char::is_alphabetic);
        is_telling.then(|| FollowUpTables::shipped().name_of(NamedRow::Currencies, &token.word)).flatten()
    };
    found.iter().enumerate().find_map(|(at, token)| {
        let (amount, letters) = number(&token.word)?;
        let of_letters = Some(letters).filter(|it| !it.is_empty());
        let currency = match of_letters {
            Some(letters) => FollowUpTables::shipped().name_of(NamedRow::Currencies, letters),
            // In "15–20 €", the currency follows the second number.
            None => code(at + 1).or_else(|| at.checked_sub(1).and_then(code)).or_else(|| {
                let second = found.get(at + 1)?;
                let gap = text.get(token.end..second.start)?;
                number(&second.word).filter(|_| matches!(gap.trim(), "-" | "–" | "—")).and_then(|_| code(at + 2))
            }),
        };
        currency.map(|currency| Price { amount, currency: Some(currency.to_owned()) })
    })
}
