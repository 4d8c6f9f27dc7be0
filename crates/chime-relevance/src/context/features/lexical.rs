//! Words, stems and their rarity, in any language.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::context::features::token::{Quick, Token, token};
use chime_core::trigger::Languages;
use chime_core::{Language, WordStemmer, folded, is_unspaced, pattern, pieces, short_stem, split_words};

/// Maximum characters of an ASCII stem. It can be longer than other stems, because English endings are removed first; a
/// shorter one would make "pickles" a form of "pick".
const PLAIN_STEM_CHARS: usize = 6;
/// A word of a question is common if at least this many times more messages have it than have the question's rarest
/// word.
const COMMON: usize = 3;
/// Minimum characters of a part of a word joined by dots, hyphens or apostrophes; shorter parts do not count.
const MIN_PART_CHARS: usize = 3;
/// Minimum characters of a word joined by dots, hyphens or apostrophes that also counts as a whole.
const MIN_JOINED_CHARS: usize = 5;
/// Number of characters at the start of a text whose words count.
const WITHIN: usize = 1500;

static WORD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\w+(?:[.\-'’]\w+)*"));

/// Splits a text into words. Dots, hyphens, apostrophes and underscores inside a word do not split it.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    WORD.find_iter(text).map(|word| word.as_str())
}

/// Splits a word at its joining characters, except underscores.
pub fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.split(['.', '-', '\'', '’'])
}

/// Returns the distinct stems of a text as hashes, ascending.
pub fn stems(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    each_word(text, |stem, _| found.push(token(stem)));
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the smoothed idf of a word that occurs in `holding` of `messages`: high for a rare word.
pub fn rarity(messages: usize, holding: f64) -> f64 {
    ((messages as f64 + 20.0) / (holding + 0.5)).ln()
}

/// Damps a count or an expected count, so that repetitions add less and less: unchanged up to 1, logarithmic above.
pub fn damped(times: f64) -> f64 {
    if times <= 1.0 { times } else { 1.0 + times.ln() }
}

/// Returns, for each stem in `of`, how many of `texts` have it. Each text is a list of its stems.
pub fn holding<'a>(of: impl Iterator<Item = Token>, texts: impl Iterator<Item = &'a Vec<Token>>) -> Quick<Token, f64> {
    let mut counts: Quick<Token, f64> = of.map(|stem| (stem, 0.0)).collect();
    for stem in texts.flatten() {
        if let Some(count) = counts.get_mut(stem) {
            *count += 1.0;
        }
    }
    counts
}

/// Returns the stems of all words of a name, stop words and short words included.
pub fn stems_of_name(name: &str) -> Vec<Token> {
    let lower = folded(name).to_lowercase();
    split_words(&lower).flat_map(pieces).map(|part| token(&stem(part))).collect()
}

/// Returns the words of a text in lower case, each after its stem. Stop words are left out; words of several parts
/// yield their parts too.
pub fn words_of(text: &str) -> Vec<(Token, String)> {
    let mut found = Vec::new();
    each_word(text, |stem, word| found.push((token(stem), word.to_owned())));
    found
}

/// Calls `each` with the stem and the word for every word of a text that is not a stop word.
fn each_word(text: &str, mut each: impl FnMut(&str, &str)) {
    let languages = Languages::shipped();
    let lower: String = folded(text).to_lowercase().chars().take(WITHIN).collect();
    let is_stop_word = |word: &str| languages.is_stop_word_in(word, &lower);
    let all = words(&lower).flat_map(|word| word.split('_')).flat_map(pieces);
    for word in all.filter(|word| !is_stop_word(word)) {
        if word.starts_with(is_unspaced) {
            each(word, word);
            continue;
        }
        let chars = word.chars().count();
        if word.chars().any(|c| c.is_numeric()) {
            if chars >= 2 {
                each(word, word);
            }
            continue;
        }
        if parts(word).nth(1).is_some() && chars >= MIN_JOINED_CHARS {
            each(word, word);
        }
        let telling = parts(word).filter(|part| !is_stop_word(part) && part.chars().count() >= MIN_PART_CHARS);
        telling.for_each(|part| each(&stem(part), part));
    }
}

fn stem(word: &str) -> Cow<'_, str> {
    static ENGLISH: LazyLock<WordStemmer> = LazyLock::new(|| WordStemmer::new(Language::DEFAULT));
    if !word.is_ascii() {
        return Cow::Borrowed(short_stem(word));
    }
    match ENGLISH.stem(word) {
        Cow::Borrowed(stem) => Cow::Borrowed(&stem[..stem.len().min(PLAIN_STEM_CHARS)]),
        Cow::Owned(mut stem) => {
            stem.truncate(PLAIN_STEM_CHARS);
            Cow::Owned(stem)
        }
    }
}

/// Returns a question without its common words; `None` if it has no common word or no rarer one. `spread` returns the
/// number of messages that have a stem.
pub fn telling_part(ask: &str, spread: impl Fn(Token) -> usize) -> Option<String> {
    let spreads: Vec<(Token, usize)> = stems(ask).into_iter().map(|stem| (stem, spread(stem))).collect();
    let rarest = spreads.iter().map(|(_, spread)| *spread).filter(|spread| *spread > 0).min()?;
    let common: Vec<Token> =
        spreads.into_iter().filter(|(_, spread)| *spread >= COMMON * rarest).map(|(stem, _)| stem).collect();
    let tells = |part: &&str| {
        let words = words_of(part);
        words.is_empty() || words.iter().any(|(stem, _)| !common.contains(stem))
    };
    let parts = ask.split_whitespace().filter(tells);
    (!common.is_empty()).then(|| parts.collect::<Vec<_>>().join(" "))
}

/// Returns `true` if a text has at most five words and `known` is false for all of its stems.
pub fn says_little(text: &str, known: impl Fn(Token) -> bool) -> bool {
    // Two characters are about a word in scripts without spaces.
    let count = |part: &str| if part.contains(is_unspaced) { part.chars().count().div_ceil(2) } else { 1 };
    words(text).flat_map(parts).map(count).sum::<usize>() <= 5 && !stems(text).into_iter().any(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut found = Vec::new();
        each_word(text, |stem, _| found.push(stem.to_owned()));
        found.sort();
        found.dedup();
        assert_eq!(found.join(" "), expected);
    }

    #[test]
    fn words_meet_their_other_forms_in_many_languages() {
        check("The restaurant, the restaurants!", "restau");
        check("Picking and picked, no pickles", "pick pickl");
        check("Рестораны ресторана", "рест");
        check("Häuser im Garten", "garten häus");
        check("الراوتر، راوتر", "راوت");
        check("订了周五7点的票", "了 了周 五 周 周五 点 点的 的 的票 票 订 订了");
        check("노트북을 고쳤어", "고쳤 노트 북을 쳤어 트북");
    }

    #[test]
    fn numbers_and_joined_words_count_whole() {
        check("F28 at 12.30 with a t-shirt", "12.30 f28 shirt t-shirt");
    }

    #[test]
    fn a_name_has_the_stems_that_its_words_have_in_a_text() {
        let of_name: Vec<Token> = stems_of_name("Nana Jean_46");
        assert!(stems("nana and Jean").iter().all(|stem| of_name.contains(stem)));
    }

    #[test]
    fn beside_a_rare_word_the_common_ones_of_an_ask_are_left_out() {
        let spread = |stem| match stem {
            stem if stem == token("cost") => 3,
            stem if stem == token("boiler") => 1,
            _ => 0,
        };
        let telling = |ask: &str| telling_part(ask, spread);
        assert_eq!(telling("what did the boiler cost?").as_deref(), Some("what did the boiler"));
        assert_eq!((telling("what did it cost?"), telling("what did the roof cost?")), (None, None));
    }

    #[test]
    fn a_pointer_says_little() {
        assert!(says_little("thoughts?", |_| false));
        assert!(says_little("what do you all think", |_| false));
        assert!(!says_little("does the chapel have wifi", |stem| stem == token("chapel")));
    }
}
