//! Words as the full-text index keeps them: lower-case stems.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use crate::domain::unless_it_panics;

/// The language that a text is stemmed in. Languages without a stemmer keep their words whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language(whatlang::Lang);

/// Fewer characters than this say too little about a language.
const ENOUGH_TO_JUDGE: usize = 200;

/// Of 1. A wrong stemmer costs little, since query and text meet it alike; flapping between two costs more.
const SURE_ENOUGH: f64 = 0.3;

impl Language {
    pub const DEFAULT: Self = Self(whatlang::Lang::Eng);

    /// ISO 639-3, as stored.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Unknown codes are read as the default: the index is rebuilt from the text, never the other way round.
    pub fn from_code(code: &str) -> Self {
        whatlang::Lang::from_code(code).map_or(Self::DEFAULT, Self)
    }

    /// The language of a chat, from its recent texts; none when they say too little.
    pub fn judge(texts: &[String]) -> Option<Self> {
        let sample = texts.join("\n");
        if sample.chars().count() < ENOUGH_TO_JUDGE {
            return None;
        }
        unless_it_panics(|| whatlang::detect(&sample))
            .flatten()
            .filter(|info| info.confidence() >= SURE_ENOUGH)
            .map(|info| Self(info.lang()))
    }

    /// Whether the forms of a word share a stem in the index.
    pub fn has_stemmer(self) -> bool {
        self.algorithm().is_some()
    }

    fn algorithm(self) -> Option<Algorithm> {
        use whatlang::Lang;
        Some(match self.0 {
            Lang::Ara => Algorithm::Arabic,
            Lang::Dan => Algorithm::Danish,
            Lang::Nld => Algorithm::Dutch,
            Lang::Eng => Algorithm::English,
            Lang::Fin => Algorithm::Finnish,
            Lang::Fra => Algorithm::French,
            Lang::Deu => Algorithm::German,
            Lang::Ell => Algorithm::Greek,
            Lang::Hun => Algorithm::Hungarian,
            Lang::Ita => Algorithm::Italian,
            Lang::Nob => Algorithm::Norwegian,
            Lang::Por => Algorithm::Portuguese,
            Lang::Ron => Algorithm::Romanian,
            Lang::Rus => Algorithm::Russian,
            Lang::Spa => Algorithm::Spanish,
            Lang::Swe => Algorithm::Swedish,
            Lang::Tam => Algorithm::Tamil,
            Lang::Tur => Algorithm::Turkish,
            _ => return None,
        })
    }
}

/// Turns lower-case words of one language into their stems.
pub struct WordStemmer(Option<Stemmer>);

impl WordStemmer {
    pub fn new(language: Language) -> Self {
        Self(language.algorithm().map(Stemmer::create))
    }

    pub fn stem<'a>(&self, lower_case: &'a str) -> Cow<'a, str> {
        // The Greek stemmer panics on some words: these stay whole, in the text as in a query.
        let stem = |stemmer: &Stemmer| unless_it_panics(|| stemmer.stem(lower_case));
        self.0.as_ref().and_then(stem).unwrap_or(Cow::Borrowed(lower_case))
    }
}

/// The words of `text` in order, lower-case and stemmed.
pub fn stems(text: &str, language: Language) -> Vec<String> {
    let stemmer = WordStemmer::new(language);
    text.unicode_words().map(|word| stemmer.stem(&word.to_lowercase()).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, text: &str, expected: &str) {
        assert_eq!(stems(text, Language::from_code(code)).join(" "), expected);
    }

    #[test]
    fn words_meet_their_other_forms() {
        check("eng", "Booking tables, booked a table!", "book tabl book a tabl");
        check("rus", "Рестораны ресторана", "рестора рестора");
        check("deu", "Häuser", "haus");
    }

    #[test]
    fn a_language_without_a_stemmer_keeps_its_words_whole() {
        check("est", "Lähme restorani", "lähme restorani");
        check("no such code", "cats", "cat");
    }

    #[test]
    fn a_word_that_the_stemmer_chokes_on_stays_whole() {
        check("ell", "ισαισαν καλημέρα", "ισαισαν καλημερ");
    }

    #[test]
    fn a_few_words_do_not_decide_a_language() {
        assert_eq!(Language::judge(&["пойдём".to_owned()]), None);
        let russian = [
            "Давайте посмотрим ресторан для нашей встречи в пятницу вечером, столик надо заказать заранее.",
            "А сколько нас будет? Мне кажется, что человек девять, если Катя всё-таки приедет из Москвы.",
            "Хорошо, тогда я позвоню туда завтра утром и спрошу, есть ли у них большой стол у окна.",
        ];
        let judged = Language::judge(&russian.map(str::to_owned));
        assert_eq!(judged.map(Language::code), Some("rus"));
    }
}
