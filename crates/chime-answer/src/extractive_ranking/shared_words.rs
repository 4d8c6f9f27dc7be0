//! Compares questions and messages by their words.

use chime_core::trigger::Languages;
use chime_core::{folded, is_unspaced, pieces, short_stem, split_words};

/// Minimum number of characters of a content word.
const MIN_WORD_CHARS: usize = 3;

/// Returns the share of the content words of `ask` found in `text`, 0 to 1.
pub fn shared_word_ratio(ask: &str, text: &str) -> f64 {
    let (asked, said) = (stems(ask), stems(text));
    match asked.len() {
        0 => 0.0,
        all => asked.iter().filter(|stem| said.binary_search(stem).is_ok()).count() as f64 / all as f64,
    }
}

/// Counts the content words of `ask` that are in `text`.
pub fn shared_word_count(ask: &str, text: &str) -> usize {
    let said = stems(text);
    stems(ask).iter().filter(|stem| said.binary_search(stem).is_ok()).count()
}

/// Returns the share of the content words of `ask` whose stems occur in each text, 0 to 1.
pub fn stem_substring_ratios(ask: &str, texts: &[String]) -> Vec<f64> {
    let asked = stems(ask);
    let share = |text: &String| {
        let text = text.to_lowercase();
        asked.iter().filter(|stem| text.contains(stem.as_str())).count() as f64 / asked.len().max(1) as f64
    };
    texts.iter().map(share).collect()
}

/// Returns the stems of the content words of a text, sorted, without repeats.
fn stems(text: &str) -> Vec<String> {
    let lower = folded(text).to_lowercase();
    let mut found: Vec<String> = content_words(&lower).map(|word| short_stem(word).to_owned()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the content words of a text in lower case.
fn content_words(lower: &str) -> impl Iterator<Item = &str> {
    let languages = Languages::shipped();
    let is_long = |word: &str| word.chars().count() >= MIN_WORD_CHARS || word.starts_with(is_unspaced);
    split_words(lower).flat_map(pieces).filter(move |word| is_long(word) && !languages.is_stop_word_in(word, lower))
}
