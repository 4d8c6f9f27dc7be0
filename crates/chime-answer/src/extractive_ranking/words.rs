//! Compares questions and messages by their words.

use chime_core::trigger::Languages;
use chime_core::{Language, WordStemmer, folded, is_unspaced, pieces, short_stem, split_words};
use chime_relevance::context::ContextWindow;

use crate::extractive_ranking::replies::continued;

/// Minimum number of characters of a content word.
const MIN_WORD_CHARS: usize = 3;
/// A message with at least this many content words gets the full bonus `SAYS_SOMETHING`.
const ENOUGH_WORDS: usize = 6;
const SAYS_SOMETHING: f64 = 0.3;
/// Share of a match for a word that only begins like one of the question, in languages whose forms of words are known.
const SAME_BEGINNING: f64 = 0.7;

/// Matches between the question's words and the entries.
pub(super) struct QueryWords {
    /// Share of the question's words in each entry, 0 to 1; rare words count more.
    pub(super) matched: Vec<f64>,
    /// Number of content words of the question.
    pub(super) asked: usize,
    /// Number of content words in each entry.
    pub(super) counts: Vec<usize>,
    /// Stems of the content words of each entry.
    pub(super) said: Vec<Vec<String>>,
}

impl QueryWords {
    /// `asked_in` is the entry that contains `ask`. It does not count as a match.
    pub(super) fn of(window: &ContextWindow, ask: &str, asked_in: Option<usize>, language: Language) -> Self {
        let forms = Forms::new(language);
        let asked = forms.of(ask);
        let mut said: Vec<Vec<WordForms>> =
            window.entries.iter().map(|entry| forms.of(&entry.message.message.text)).collect();
        let counts = said.iter().map(Vec::len).collect();
        if let Some(place) = asked_in {
            said[place].clear();
        }
        // Each word of the question with its weight and how surely each entry has it. Rare words weigh more, and one
        // that no entry has weighs nothing.
        let weighed = |word: &WordForms| -> (f64, Vec<f64>) {
            let held: Vec<f64> = said.iter().map(|words| forms.held(word, words)).collect();
            (rarity(held.iter().filter(|share| **share > 0.0).count()), held)
        };
        let weighed: Vec<(f64, Vec<f64>)> = asked.iter().map(weighed).collect();
        let all: f64 = weighed.iter().map(|(weight, _)| weight).sum();
        let share = |place: usize| match all > 0.0 {
            true => weighed.iter().map(|(weight, held)| weight * held[place]).sum::<f64>() / all,
            false => 0.0,
        };
        let matched = (0..said.len()).map(share).collect();
        let said = said.into_iter().map(|words| words.into_iter().map(|word| word.short).collect()).collect();
        Self { matched, asked: asked.len(), counts, said }
    }

    pub(super) fn weight(&self, stem: &str) -> f64 {
        rarity(self.said.iter().filter(|words| words.iter().any(|word| word == stem)).count())
    }

    /// Returns `true` if an entry only asks what the question asks, and nobody continued it.
    pub(super) fn is_repeat(&self, window: &ContextWindow, place: usize) -> bool {
        let is_same = self.matched[place] >= 1.0 && self.counts[place] <= self.asked + 1;
        is_same
            && Languages::shipped().is_question(&window.entries[place].message.message.text)
            && !(place + 1..window.entries.len()).any(|later| continued(window, later) == Some(place))
    }

    /// Returns the bonus of an entry for its number of content words.
    pub(super) fn telling(&self, place: usize) -> f64 {
        let count = self.counts.get(place).copied().unwrap_or_default().min(ENOUGH_WORDS);
        SAYS_SOMETHING * count as f64 / ENOUGH_WORDS as f64
    }
}

/// Returns the weight of a word that so many entries have.
fn rarity(holders: usize) -> f64 {
    if holders == 0 { 0.0 } else { 1.0 / (holders as f64).sqrt() }
}

/// A content word: its first letters, and its stem in the language of the chat.
struct WordForms {
    short: String,
    stem: String,
}

/// Compares words in the language of a chat.
struct Forms {
    language: Language,
    stemmer: WordStemmer,
}

impl Forms {
    fn new(language: Language) -> Self {
        Self { language, stemmer: WordStemmer::new(language) }
    }

    /// Returns the content words of a text, without repeats.
    fn of(&self, text: &str) -> Vec<WordForms> {
        let lower = folded(text).to_lowercase();
        let mut found: Vec<WordForms> = Vec::new();
        for word in content_words(&lower) {
            let (short, stem) = (short_stem(word), self.stemmer.stem(word));
            if !found.iter().any(|other| other.short == short && other.stem == stem) {
                found.push(WordForms { short: short.to_owned(), stem: stem.into_owned() });
            }
        }
        found
    }

    /// Returns how surely a text with these words has the word `asked`: 1 for the word and its forms, alone or in a
    /// compound.
    fn held(&self, asked: &WordForms, words: &[WordForms]) -> f64 {
        let is_form = |word: &WordForms| self.language.is_word_or_compound(&asked.stem, &word.stem);
        match words.iter().any(is_form) {
            true => 1.0,
            false if !words.iter().any(|word| word.short == asked.short) => 0.0,
            false if self.language.has_stemmer() => SAME_BEGINNING,
            false => 1.0,
        }
    }
}

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
pub(super) fn stems(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, word: &str, text: &str, expected: f64) {
        let forms = Forms::new(Language::from_code(code));
        let asked = forms.of(word);
        assert_eq!(forms.held(&asked[0], &forms.of(text)), expected);
    }

    #[test]
    fn a_word_is_found_in_other_forms_and_in_compounds() {
        check("deu", "Kartons", "wer hat einen Karton?", 1.0);
        check("deu", "Kartons", "wer hat noch Umzugskartons?", 1.0);
        check("deu", "Hauptstadt", "Hauptsache es klappt", SAME_BEGINNING);
        check("eng", "boat", "the tent is red", 0.0);
        // Without a stemmer, the first letters decide.
        check("pol", "namiot", "mamy dwa namioty", 1.0);
    }
}
