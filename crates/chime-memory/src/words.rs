//! Content words of a text with stems of four letters, in any language that is written with spaces. For summaries and tags.

use std::collections::BTreeSet;

use unicode_segmentation::UnicodeSegmentation;

use chime_core::trigger::Languages;

/// The beginning of a word: four letters meet its other forms in all the languages tried.
const STEM_CHARS: usize = 4;
const MIN_CHARS: usize = 3;

/// The telling words of a text in order, each with its stem.
pub fn telling(text: &str) -> Vec<(String, String)> {
    let lower = text.to_lowercase();
    let word = |word: &str| {
        let has_digit = word.chars().any(char::is_numeric);
        let is_telling = has_digit || word.chars().count() >= MIN_CHARS && !is_common(word, &lower);
        let stem = if has_digit { word.to_owned() } else { word.chars().take(STEM_CHARS).collect() };
        is_telling.then(|| (word.to_owned(), stem))
    };
    lower.unicode_words().filter_map(word).collect()
}

/// The stems of a text, each once.
pub fn stems(text: &str) -> BTreeSet<String> {
    telling(text).into_iter().map(|(_, stem)| stem).collect()
}

/// Whether a word names a number: a time, a price, a date, a version.
pub fn has_digit(word: &str) -> bool {
    word.chars().any(char::is_numeric)
}

/// Whether a word of a text says nothing by itself.
pub fn is_common(word: &str, text: &str) -> bool {
    Languages::shipped().is_stop_word_in(word, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem_and_numbers_stay_whole() {
        let told = |text: &str| stems(text).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(told("We booked the tables at 19:30 for 410"), "19 30 410 book tabl");
        assert_eq!(told("Столик заказали, столики заказаны"), "зака стол");
        assert_eq!(told("the and of"), "");
    }
}
