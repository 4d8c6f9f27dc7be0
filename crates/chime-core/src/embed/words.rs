//! Splits texts into words for a WordPiece model as BERT does: in lower case, without accents, each punctuation mark a
//! word.

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

/// Calls `each` with the words of `text` in order. `scratch` is a buffer that holds the normalised text; its old
/// content is deleted.
pub fn each_word<'a>(text: &str, scratch: &'a mut String, mut each: impl FnMut(&'a str)) {
    scratch.clear();
    normalise(text, scratch);
    let normal: &'a str = scratch;
    let mut start = None;
    for (place, c) in normal.char_indices() {
        let apart = is_punctuation(c);
        if !apart && !c.is_whitespace() {
            start.get_or_insert(place);
            continue;
        }
        if let Some(start) = start.take() {
            each(&normal[start..place]);
        }
        if apart {
            each(&normal[place..place + c.len_utf8()]);
        }
    }
    if let Some(start) = start {
        each(&normal[start..]);
    }
}

fn normalise(text: &str, normal: &mut String) {
    normal.reserve(text.len());
    if text.is_ascii() {
        normal.extend(text.chars().filter_map(cleaned).map(|c| c.to_ascii_lowercase()));
        return;
    }
    let spaced = text.chars().filter_map(cleaned).flat_map(|c| {
        let around = is_chinese(c).then_some(' ');
        [around, Some(c), around].into_iter().flatten()
    });
    for c in spaced.nfd().filter(|c| !c.is_mark_nonspacing()) {
        normal.extend(c.to_lowercase());
    }
}

/// Replaces white space by a plain space. Returns `None` for control and other invisible characters.
fn cleaned(c: char) -> Option<char> {
    match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if c.is_ascii() => (!c.is_ascii_control()).then_some(c),
        c if c.is_other() => None,
        c if c.is_whitespace() => Some(' '),
        c => Some(c),
    }
}

fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() || (!c.is_ascii() && c.is_punctuation())
}

/// Returns `true` for CJK ideographs. Chinese has no spaces, so every character is a word.
fn is_chinese(c: char) -> bool {
    matches!(
        u32::from(c),
        0x4E00..=0x9FFF
            | 0x3400..=0x4DBF
            | 0x20000..=0x2A6DF
            | 0x2A700..=0x2B73F
            | 0x2B740..=0x2B81F
            | 0x2B920..=0x2CEAF
            | 0xF900..=0xFAFF
            | 0x2F800..=0x2FA1F
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut scratch = String::new();
        let mut words = Vec::new();
        each_word(text, &mut scratch, |word| words.push(word));
        assert_eq!(words, expected);
    }

    #[test]
    fn words_are_lower_case_and_punctuation_stands_apart() {
        check("It's 7.30\tpm!", &["it", "'", "s", "7", ".", "30", "pm", "!"]);
        check("", &[]);
    }

    #[test]
    fn accents_and_what_nobody_sees_are_dropped() {
        check("Café\u{200b}s «Straße»\u{a0}x", &["cafes", "«", "straße", "»", "x"]);
    }

    #[test]
    fn chinese_characters_are_words() {
        check("去泰国 ok", &["去", "泰", "国", "ok"]);
    }
}
