//! Splits texts of any script into words for a search, and into sentences.

use std::borrow::Cow;

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_compatible;
use unicode_segmentation::UnicodeSegmentation;

/// Length of the last word before a full stop, in characters, from which the full stop ends a sentence.
const ABBREVIATION: usize = 3;

/// Returns `text` with one form for each letter of the scripts that are written in several: Arabic letters without
/// vowel signs and hamza, in their Persian form; Greek letters without accents; Indic letters without the nukta; ASCII
/// digits; full-width forms as usual ones. Latin and Cyrillic letters stay as they are.
pub fn folded(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            folded.push(c);
        } else {
            decompose_compatible(c, |part| folded.extend(fold(part)));
        }
    }
    Cow::Owned(folded.nfc().collect())
}

/// Returns `word` without accents, as the full-text index compares words: "école" as "ecole", "İzmir" as "Izmir".
pub fn without_accents(word: &str) -> String {
    word.nfd().filter(|c| !matches!(c, '\u{300}'..='\u{36f}')).nfc().collect()
}

/// Returns `true` for characters with a single form: Latin, Cyrillic, symbols, and Chinese characters in common use.
fn is_plain(c: char) -> bool {
    matches!(c, '\0'..='\u{36f}' | '\u{400}'..='\u{52f}' | '\u{1e00}'..='\u{1eff}' | '\u{3000}'..='\u{9fff}' |
        '\u{ac00}'..='\u{d7a3}' | '\u{1f000}'..)
        || (matches!(c, '\u{2000}'..='\u{2fff}') && !is_joiner(c))
}

/// Returns `true` for the zero-width characters that only change how their neighbours are drawn.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Returns the comparison form of a decomposed character; `None` for a mark that does not distinguish words.
fn fold(c: char) -> Option<char> {
    match c {
        // Vowel signs, accents and hamza of Greek, Hebrew and Arabic; the Arabic letter stretcher; the nukta.
        '\u{300}'..='\u{36f}'
        | '\u{591}'..='\u{5c7}'
        | '\u{610}'..='\u{61a}'
        | '\u{640}'
        | '\u{64b}'..='\u{65f}'
        | '\u{670}'
        | '\u{93c}'
        | '\u{9bc}'
        | '\u{a3c}' => None,
        _ if is_joiner(c) => None,
        'ي' | 'ى' => Some('ی'),
        'ك' => Some('ک'),
        'ة' | 'ہ' | 'ھ' => Some('ه'),
        'ς' => Some('σ'),
        _ if c.is_number_decimal_digit() => Some(ascii_digit(c)),
        _ => Some(c),
    }
}

/// Converts a decimal digit of any script. The ten digits of a script follow each other.
fn ascii_digit(c: char) -> char {
    let before = (1..10).take_while(|back| {
        let other = u32::from(c).checked_sub(*back).and_then(char::from_u32);
        other.is_some_and(char::is_number_decimal_digit)
    });
    u32::try_from(before.count()).ok().and_then(|value| char::from_digit(value, 10)).unwrap_or(c)
}

/// Returns the words of a [`folded`] text in order. Text in a script without spaces between words is divided into
/// [`pieces`].
pub fn search_words(folded: &str) -> Vec<&str> {
    let (mut found, mut run) = (Vec::with_capacity(folded.len() / 5), 0..0);
    for (at, word) in folded.unicode_word_indices() {
        if run.end != at || !word.starts_with(is_unspaced) || !folded[run.clone()].ends_with(is_unspaced) {
            push_pieces(&folded[run], &mut found);
            run = at..at;
        }
        run.end = at + word.len();
    }
    push_pieces(&folded[run], &mut found);
    found
}

/// Divides a word in a script that has no spaces between words: into all pairs of neighbouring characters, and single
/// Chinese characters, which have a meaning of their own. Other words stay whole.
pub fn pieces(word: &str) -> Vec<&str> {
    let mut found = Vec::new();
    push_pieces(word, &mut found);
    found
}

fn push_pieces<'a>(word: &'a str, found: &mut Vec<&'a str>) {
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_unspaced(c) != is_unspaced(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        if !is_unspaced(first) {
            found.push(run);
            continue;
        }
        for (at, c) in run.char_indices() {
            let next = at + c.len_utf8();
            let pair = run[next..].chars().next().map(|second| &run[at..next + second.len_utf8()]);
            found.extend(pair);
            if next - at == run.len() || is_chinese(c) {
                found.push(&run[at..next]);
            }
        }
    }
}

/// Returns `true` for characters of scripts that put no space between words, and of Korean, which puts none before
/// particles. Katakana is excluded, because changes between scripts already separate its words.
pub fn is_unspaced(c: char) -> bool {
    is_chinese(c)
        || matches!(c, '\u{3041}'..='\u{309f}' | '\u{ac00}'..='\u{d7a3}' | '\u{e01}'..='\u{eff}' |
            '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns `true` for letters of the scripts that are written from right to left.
pub fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Splits a text at everything that is neither a letter nor a digit.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns the words of a text in lower case.
pub fn lower_words(text: &str) -> Vec<String> {
    split_words(text).map(str::to_lowercase).collect()
}

/// Returns `true` for Greek letters. Behind one, a semicolon is a question mark.
pub(crate) fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

/// Returns the places behind the sentences of a text.
pub fn sentence_ends(text: &str) -> Vec<usize> {
    let is_end = |(at, mark): &(usize, char)| match mark {
        '\n' | '。' | '！' | '？' => true,
        '.' | '!' | '?' | '؟' | '۔' | '।' | '॥' | '။' | '።' | ';' | '\u{37e}' => {
            if *mark == ';' && !text[..*at].ends_with(is_greek) {
                return false;
            }
            // In "e.g. tents" and "No. 5" no sentence ends.
            let is_word = text[..*at].chars().rev().take(ABBREVIATION).all(char::is_alphanumeric);
            (is_word || *mark != '.') && text[at + mark.len_utf8()..].starts_with(char::is_whitespace)
        }
        _ => false,
    };
    text.char_indices().filter(is_end).map(|(at, mark)| at + mark.len_utf8()).chain([text.len()]).collect()
}

/// Returns the sentences of a text.
pub fn sentences(text: &str) -> Vec<&str> {
    let ends = sentence_ends(text);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let found = starts.zip(&ends).map(|(start, end)| text[start..*end].trim());
    found.filter(|sentence| !sentence.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_in_other_scripts() {
        for (text, count) in [
            ("सगाई 10 मार्च को है। होटल में शाम 7 बजे।", 2),
            ("متى؟ غدا الساعة ٩.", 2),
            ("کب ہے؟ کل ہے۔ ٹھیک", 3),
            ("Πότε είναι; Το Σάββατο.", 2),
            ("Ana; Ben and Kai.", 1),
        ] {
            assert_eq!(sentences(text).len(), count, "{text}");
        }
    }

    #[test]
    fn letters_have_one_form() {
        for (text, expected) in [
            ("می‌خواهم كتابي", "میخواهم کتابی"),
            ("إلى الأَحَد غـــدًا", "الی الاحد غدا"),
            ("۱۲ ٤٨ ७५", "12 48 75"),
            ("Τρίτη ΦΩΣ φως", "Τριτη ΦΩΣ φωσ"),
            ("फ़रवरी तोहफ़ा", "फरवरी तोहफा"),
            ("ＯＫ ｷｬﾝﾌﾟ がぎ", "OK キャンプ がぎ"),
            ("שָׁלוֹם", "שלום"),
            ("Ёжик Café été", "Ёжик Café été"),
            ("한국어 เมื่อวาน", "한국어 เมื่อวาน"),
        ] {
            assert_eq!(folded(text), expected);
        }
    }

    #[test]
    fn accents_go_and_other_marks_stay() {
        for (word, expected) in
            [("école", "ecole"), ("i\u{307}zmir", "izmir"), ("ёлка", "елка"), ("जानकारी", "जानकारी"), ("がぎ", "がぎ")]
        {
            assert_eq!(without_accents(word), expected);
        }
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        for (text, expected) in [
            ("订好了,周五7点", "订好 订 好了 好 了 周五 周 五 7 点"),
            ("テントは俺が持つ", "テント は俺 俺が 俺 が持 持つ 持"),
            ("노트북이 안켜져", "노트 트북 북이 안켜 켜져"),
            ("don't go", "don't go"),
        ] {
            assert_eq!(search_words(text).join(" "), expected);
        }
        assert_eq!(pieces("IP住址"), ["IP", "住址", "住", "址"]);
    }
}
