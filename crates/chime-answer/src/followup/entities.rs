//! Finds names of people in questions and in shown items.

use crate::followup::signals::is_generic_kind;
use crate::followup::tables::{FollowUpTable, FollowUpTables, NamedRow, PhraseRow, TokenSpan};
use crate::followup::words::{FoldedToken, fold, tokens};
use chime_core::Item;

/// Maximum number of words of a name: "Gabriel José García Márquez".
const NAME_WORDS: usize = 5;
/// Small words inside names.
pub const PARTICLES: [&str; 17] =
    ["de", "del", "della", "da", "di", "du", "la", "le", "van", "von", "der", "den", "ter", "bin", "al", "af", "of"];
/// Words between two names.
pub const AND: [&str; 11] = ["and", "&", "ja", "und", "y", "et", "e", "и", "і", "or", "ning"];
const HONORIFICS: [&str; 12] = ["mr", "mrs", "ms", "dr", "prof", "sir", "hr", "pr", "herr", "frau", "señor", "señora"];
/// Minimum number of characters of a word of a name: a shorter one could be any word.
const TELLING_CHARS: usize = 4;

/// Returns `true` for a name of two or more characters with a letter, unless it is a lone initial or a pronoun.
pub fn is_valid_name(name: &str) -> bool {
    let name = name.trim();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let is_initial = letters < 2 && name.ends_with('.');
    name.chars().count() >= 2 && letters > 0 && !is_initial && !is_pronoun(name)
}

/// Removes honorifics and repeated spaces.
pub fn clean_name(name: &str) -> String {
    let words = name.split_whitespace();
    let kept = words.skip_while(|word| HONORIFICS.contains(&fold(word).as_str()));
    kept.collect::<Vec<_>>().join(" ").trim_matches(['"', '\'', '“', '”', '„', '«', '»', ',', ';']).to_owned()
}

/// Returns `true` if two names are equal without case and diacritics.
pub fn is_same_name(one: &str, other: &str) -> bool {
    fold(one) == fold(other)
}

fn is_pronoun(name: &str) -> bool {
    let found = tokens(name);
    let whole = TokenSpan { from: 0, to: found.len() };
    FollowUpTables::shipped().iter().any(|table| table.find(PhraseRow::PersonPronoun, &found).contains(&whole))
}

/// Returns the names in the question after a word such as "by" or with a suffix of that meaning, and the positions of
/// both.
pub fn named_in(text: &str, tokens: &[FoldedToken], table: &FollowUpTable) -> (Vec<String>, Vec<TokenSpan>) {
    let (mut names, mut spans) = (Vec::new(), Vec::new());
    let pronouns = table.find(PhraseRow::PersonPronoun, tokens);
    for marker in table.find(PhraseRow::By, tokens) {
        let is_pronoun = pronouns.iter().any(|span| span.overlaps(marker) || span.from == marker.to);
        if is_pronoun {
            continue;
        }
        let mut from = marker.to;
        while let Some(to) = name_at(text, tokens, table, from) {
            let span = TokenSpan { from, to };
            names.push(clean_name(&span.written(text, tokens)));
            spans.push(TokenSpan { from: marker.from, to });
            if tokens.get(to).is_none_or(|token| !AND.contains(&token.word.as_str())) {
                break;
            }
            from = to + 1;
        }
    }
    for (at, token) in tokens.iter().enumerate().skip(1) {
        let is_taken = spans.iter().any(|span| span.from <= at && at < span.to);
        if let Some(stem) = without_ending(text, token, table).filter(|_| !is_taken) {
            names.push(stem);
            spans.push(TokenSpan { from: at, to: at + 1 });
        }
    }
    names.retain(|name| is_valid_name(name));
    (names, spans)
}

/// Returns the end of the name that begins at `from`; `None` if no name begins there.
fn name_at(text: &str, tokens: &[FoldedToken], table: &FollowUpTable, from: usize) -> Option<usize> {
    let typed_small = !text.chars().any(char::is_uppercase);
    let mut to = from;
    while let Some(token) = tokens.get(to).filter(|_| to - from < NAME_WORDS) {
        let word = token.word.as_str();
        let is_known = table.has(PhraseRow::NotName, word) || is_kind(table, word);
        let starts_big = token.written(text).starts_with(char::is_uppercase);
        let is_name = match typed_small {
            true => {
                !is_known && !table.has(PhraseRow::Fillers, word) && !word.starts_with(|c: char| c.is_ascii_digit())
            }
            false => starts_big && !(is_known && to == from) || to > from && PARTICLES.contains(&word),
        };
        if !is_name {
            break;
        }
        to += 1;
        if token.ends_clause && !is_initial(token, text) {
            break;
        }
    }
    while to > from && tokens.get(to - 1).is_some_and(|token| PARTICLES.contains(&token.word.as_str())) {
        to -= 1;
    }
    (to > from).then_some(to)
}

fn is_initial(token: &FoldedToken, text: &str) -> bool {
    token.written(text).chars().count() <= 2 && text.get(token.end..).is_some_and(|rest| rest.starts_with('.'))
}

fn is_kind(table: &FollowUpTable, word: &str) -> bool {
    table.named(NamedRow::Kinds, &tokens(word)).iter().any(|(_, kind)| !is_generic_kind(kind))
}

/// Removes the suffix that means "by" from a name: "Tolkienilt". `None` if the word is no name with such a suffix.
fn without_ending(text: &str, token: &FoldedToken, table: &FollowUpTable) -> Option<String> {
    let written = token.written(text);
    if !written.starts_with(char::is_uppercase) || table.has(PhraseRow::NotName, &token.word) {
        return None;
    }
    let folded = token.word.as_str();
    let ending =
        table.suffixes(PhraseRow::BySuffix).filter(|ending| folded.ends_with(ending)).max_by_key(|it| it.len())?;
    let kept = written.chars().count().checked_sub(ending.chars().count()).filter(|kept| *kept >= TELLING_CHARS)?;
    Some(written.chars().take(kept).collect())
}

/// Returns the people of shown items that the question names in full or by the last word of the name, and the position.
/// The last word may have an ending.
pub fn shown_people(tokens: &[FoldedToken], items: &[Item]) -> Vec<(String, TokenSpan)> {
    let mut found: Vec<(String, TokenSpan)> = Vec::new();
    for person in items.iter().flat_map(|item| &item.shown.people) {
        let is_known = found.iter().any(|(name, _)| is_same_name(name, person));
        if let Some(span) = mention_of(tokens, person).filter(|_| !is_known) {
            found.push((person.clone(), span));
        }
    }
    found
}

fn mention_of(tokens: &[FoldedToken], person: &str) -> Option<TokenSpan> {
    let folded = fold(person);
    let name: Vec<&str> = folded.split(' ').collect();
    let whole =
        tokens.windows(name.len()).position(|run| run.iter().map(|it| it.word.as_str()).eq(name.iter().copied()));
    if let Some(from) = whole {
        return Some(TokenSpan { from, to: from + name.len() });
    }
    let last = name.last().filter(|word| word.chars().count() > TELLING_CHARS)?;
    // The name may have an ending of up to three letters: "Tolkieni", "Tolkien's".
    let is_it = |token: &FoldedToken| {
        let rest = token.word.strip_prefix(last);
        rest.is_some_and(|rest| rest.chars().count() <= 3)
    };
    tokens.iter().position(is_it).map(|from| TokenSpan { from, to: from + 1 })
}

/// Returns names after "by" in an answer's text. Used only if no item names a person.
pub fn named_in_answer(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for table in FollowUpTables::shipped().iter() {
        for line in text.lines() {
            for name in named_in(line, &tokens(line), table).0 {
                let is_big = name.starts_with(char::is_uppercase) && name.split(' ').count() > 1;
                if is_big && !found.iter().any(|other| is_same_name(other, &name)) {
                    found.push(name);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &str, ask: &str) -> Vec<String> {
        named_in(ask, &tokens(ask), FollowUpTables::shipped().get(code).expect("a table")).0
    }

    #[test]
    fn a_name_has_two_characters_a_letter_and_is_no_pronoun() {
        let valid = ["Tolkien", "J.R.R. Tolkien", "Ng", "50 Cent", "Мураками"];
        let invalid = ["", "X", "J.", "42", "tema", "see autor", "the same author", "His", "того же автора", "??"];
        assert!(valid.iter().all(|name| is_valid_name(name)));
        let wrong: Vec<_> = invalid.iter().filter(|name| is_valid_name(name)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn names_stand_after_by_or_carry_an_ending() {
        assert_eq!(names("en", "something by J.R.R. Tolkien, please"), ["J.R.R. Tolkien"]);
        assert_eq!(names("en", "books by Tolkien and Lewis"), ["Tolkien", "Lewis"]);
        assert_eq!(names("en", "anything by ursula le guin?"), ["ursula le guin"]);
        assert_eq!(names("et", "Näita raamatuid Tolkienilt ja Lewiselt"), ["Tolkien", "Lewis"]);
        assert_eq!(names("et", "raamatuid autorilt Andrus Kivirähk"), ["Andrus Kivirähk"]);
        assert_eq!(names("de", "Bücher von Juli Zeh"), ["Juli Zeh"]);
    }

    #[test]
    fn what_follows_by_need_not_be_a_name() {
        for ask in ["by Friday", "by the way", "something by him", "by the same author", "by bus?", "by 10"] {
            assert_eq!(names("en", ask), [] as [&str; 0], "{ask}");
        }
    }

    #[test]
    fn honorifics_are_no_part_of_a_name() {
        assert_eq!(clean_name("Dr. Oliver  Sacks"), "Oliver Sacks");
    }
}
