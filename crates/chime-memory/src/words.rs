//! Finds the content words of a text and shortens them to stems, in any language. Used for summaries and tags.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use chime_core::lang::{LanguageFile, tables};
use chime_core::trigger::Languages;
use chime_core::{folded, is_unspaced, search_words, short_stem};

const MIN_CHARS: usize = 3;
/// Least characters of a word in scripts without spaces between words.
const MIN_UNSPACED: usize = 2;

/// Returns the content words of a text in their order, each with its stem.
pub fn content_words(text: &str) -> Vec<(String, String)> {
    let lower = normal(text);
    // Links and names of emoji, such as `:wave:`, are not words.
    let is_no_word = |word: &&str| word.contains("://") || word.starts_with("www.") || word.starts_with(':');
    let words = lower.split_whitespace().filter(|word| !is_no_word(word)).flat_map(search_words);
    let is_stop_word = |word: &str| Languages::shipped().is_stop_word_in(word, &lower);
    let word = |whole: &str| {
        // In "boiler's" and "l'eau", the longer part is the word.
        let word = whole.split('\'').max_by_key(|part| part.len()).filter(|_| !is_stop_word(whole))?;
        let has_digit = word.chars().any(char::is_numeric);
        let least = if word.starts_with(is_unspaced) { MIN_UNSPACED } else { MIN_CHARS };
        let is_telling = has_digit || word.chars().count() >= least && !is_stop_word(word);
        let stem = if has_digit { word.to_owned() } else { short_stem(word).to_owned() };
        is_telling.then(|| (word.to_owned(), stem))
    };
    words.filter_map(word).collect()
}

fn normal(text: &str) -> String {
    folded(text).to_lowercase().replace('’', "'")
}

/// Returns the distinct stems of a text.
pub fn stems(text: &str) -> BTreeSet<String> {
    content_words(text).into_iter().map(|(_, stem)| stem).collect()
}

/// Returns the distinct stems of all words of a text. Function words are included, since leaving them out as [`stems`]
/// does takes longer.
pub fn all_stems(text: &str) -> HashSet<String> {
    let lower = normal(text);
    search_words(&lower).iter().flat_map(|word| word.split('\'')).map(|part| short_stem(part).to_owned()).collect()
}

/// Returns `true` if a word contains a number, such as a time, price, date or version.
pub fn has_digit(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagWords {
    verbs: Vec<String>,
}

/// Returns `true` if `word` is a form of an everyday verb in a likely language of `text`: "bring" is what people do in
/// any conversation.
pub fn is_everyday_verb(word: &str, text: &str) -> bool {
    static VERBS: LazyLock<Vec<(&str, HashSet<String>)>> = LazyLock::new(|| {
        let of = |(language, words): (&'static LanguageFile, TagWords)| {
            (language.short.as_str(), words.verbs.iter().map(|verb| normal(verb)).collect())
        };
        tables("tags").into_iter().map(of).collect()
    });
    let languages = || Languages::shipped().likely_codes(text);
    VERBS.iter().any(|(code, verbs)| verbs.contains(word) && languages().contains(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem_and_numbers_stay_whole() {
        let lines = |text: &str| stems(text).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(lines("We booked the tables at 19:30 for 410"), "19 30 410 book tabl");
        assert_eq!(lines("Столик заказали, столики заказаны"), "зака стол");
        assert_eq!(lines("the and of"), "");
    }
}
