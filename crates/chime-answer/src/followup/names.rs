//! Recognises names of authors and makers, and finds the makers of shown items in a text.

use crate::followup::tables::{FollowUpTables, PhraseRow, TokenSpan};
use crate::followup::words::{FoldedToken, fold, tokens};
use chime_core::Item;

/// Small words inside names.
pub const PARTICLES: [&str; 17] =
    ["de", "del", "della", "da", "di", "du", "la", "le", "van", "von", "der", "den", "ter", "bin", "al", "af", "of"];
/// Words between two names.
pub const AND: [&str; 11] = ["and", "&", "ja", "und", "y", "et", "e", "и", "і", "or", "ning"];
/// The last word of a name stands for the whole only if it has more characters: a shorter one could be any word.
const TELLING_CHARS: usize = 4;
/// Maximum number of letters of an ending: "Tolkieni", "Tolkien's", "Lewiselt".
const ENDING_CHARS: usize = 3;

/// Returns `true` for a name of two or more characters with a letter, unless it is a lone initial or a pronoun.
pub fn is_valid_name(name: &str) -> bool {
    let name = name.trim();
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    let is_initial = letters < 2 && name.ends_with('.');
    name.chars().count() >= 2 && letters > 0 && !is_initial && !is_pronoun(name)
}

/// Removes quotation marks and repeated spaces.
pub fn clean_name(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").trim_matches(['"', '\'', '“', '”', '„', '«', '»', ',', ';']).to_owned()
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

/// Returns the people of shown items that a text names in full or by the last word of the name, and the positions, in
/// the order of the text.
pub fn shown_people(tokens: &[FoldedToken], items: &[Item]) -> Vec<(String, TokenSpan)> {
    let mut found: Vec<(String, TokenSpan)> = Vec::new();
    for person in items.iter().flat_map(|item| &item.shown.people) {
        let is_known = found.iter().any(|(name, _)| is_same_name(name, person));
        if let Some(span) = mention_of(tokens, person).filter(|_| !is_known) {
            found.push((person.clone(), span));
        }
    }
    found.sort_by_key(|(_, span)| *span);
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
    let is_it = |token: &FoldedToken| {
        token.word.strip_prefix(last).is_some_and(|ending| ending.chars().count() <= ENDING_CHARS)
    };
    tokens.iter().position(is_it).map(|from| TokenSpan { from, to: from + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_two_characters_a_letter_and_is_no_pronoun() {
        let valid = ["Tolkien", "J.R.R. Tolkien", "Ng", "50 Cent", "Мураками"];
        let invalid = ["", "X", "J.", "42", "tema", "see autor", "the same author", "His", "того же автора", "??"];
        assert!(valid.iter().all(|name| is_valid_name(name)));
        let wrong: Vec<_> = invalid.iter().filter(|name| is_valid_name(name)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
