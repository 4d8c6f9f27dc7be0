//! Splits texts into lower-case words for the search.

use chime_core::folded;
use unicode_segmentation::UnicodeSegmentation;

/// Returns the words of a text in order, [`folded`], in lower case and with one kind of apostrophe. In scripts without
/// spaces between words, each character is a word. Used for phrases; a search uses other words.
pub fn words(text: &str) -> Vec<String> {
    folded(text).unicode_words().map(lower).collect()
}

pub(super) fn lower(word: &str) -> String {
    let mut lower = String::new();
    lower_into(word, &mut lower);
    lower
}

/// Replaces the contents of `lower` by `word` in lower case, with one kind of apostrophe.
pub(super) fn lower_into(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        // The lower case of a Greek sigma depends on its position in the word, so the whole word is converted at once.
        lower.push_str(&word.to_lowercase().replace(['’', 'ʼ'], "'"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_with_one_kind_of_apostrophe() {
        assert_eq!(words("Don’t go, at 7.30!"), ["don't", "go", "at", "7.30"]);
    }
}
