//! Finds the content words of a text and shortens them to stems, in any language. Used for summaries and tags.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use serde::Deserialize;

use chime_core::lang::{LanguageFile, languages, tables};
use chime_core::trigger::Languages;
use chime_core::{Language, folded, is_unspaced, search_words, short_stem, split_words};
use chime_relevance::retrieval::is_time_word;

const MIN_CHARS: usize = 3;
/// Least characters of a word in scripts without spaces between words.
const MIN_UNSPACED: usize = 2;

/// Returns the content words of a text in their order, each with its stem.
pub fn content_words(text: &str) -> Vec<(String, String)> {
    let lower = normal(text);
    let words = lower.split_whitespace().filter(|chunk| !is_no_word(chunk)).flat_map(search_words);
    words.filter_map(|word| content_word(word, &lower)).collect()
}

/// Returns `true` for links and names of emoji, such as `:wave:`.
fn is_no_word(chunk: &str) -> bool {
    chunk.contains("://") || chunk.starts_with("www.") || chunk.starts_with(':')
}

/// Returns a word of the lower-case text `lower` with its stem, if it is a content word.
fn content_word(whole: &str, lower: &str) -> Option<(String, String)> {
    let is_stop_word = |word: &str| Languages::shipped().is_stop_word_in(word, lower);
    // In "boiler's" and "l'eau", the longer part is the word.
    let word = whole.split('\'').max_by_key(|part| part.len()).filter(|_| !is_stop_word(whole))?;
    let has_digit = word.chars().any(char::is_numeric);
    let least = if word.starts_with(is_unspaced) { MIN_UNSPACED } else { MIN_CHARS };
    let is_telling = has_digit || word.chars().count() >= least && !is_stop_word(word);
    let stem = if has_digit { word.to_owned() } else { short_stem(word).to_owned() };
    is_telling.then(|| (word.to_owned(), stem))
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

/// Content word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentWord {
    pub word: String,
    pub stem: String,
    /// `true` if it stands behind a word such as "the" or has a capital: it is a noun or describes one.
    pub is_in_phrase: bool,
    /// `true` if it is a noun: the last word of such a phrase, or the first in languages like Spanish.
    pub is_noun: bool,
    /// `true` if it ends a name of several words, such as "bouncy castle" in "the bouncy castle", with the term before
    /// it.
    pub ends_name: bool,
}

/// Signs of nouns in one language.
pub struct NounSigns(Option<&'static TagWords>);

impl NounSigns {
    /// Returns the signs of the language of a text.
    pub fn of(text: &str) -> Self {
        let code = Languages::shipped().likely_codes(text).into_iter().next();
        Self(TAG_WORDS.iter().find(|(of, words)| Some(*of) == code && !words.prepositions.is_empty()).map(|it| &it.1))
    }

    /// Returns the content words of a text. In a language without signs, all count as nouns.
    pub fn terms(&self, text: &str) -> Vec<ContentWord> {
        let lower = normal(text);
        let has_lower = text.split_whitespace().skip(1).any(|word| word.starts_with(char::is_lowercase));
        let mut terms: Vec<ContentWord> = Vec::new();
        let (ends_phrases, has_capitals) =
            self.0.map_or((false, false), |it| (it.nouns_end_phrases, it.nouns_have_capitals));
        let only_capitals =
            has_capitals && text.split_whitespace().skip(1).any(|word| word.starts_with(char::is_uppercase));
        // `true` after a word such as "the", and after the start of a name.
        let (mut is_phrase, mut is_name, mut begins) = (false, false, true);
        let chunks = text.lines().flat_map(|line| line.split_whitespace().enumerate());
        for (place, chunk) in chunks {
            if place == 0 {
                (is_phrase, is_name, begins) = (false, false, true);
            }
            let said = chunk.trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_word = !is_no_word(chunk) && chunk.starts_with(char::is_alphanumeric);
            (is_phrase, is_name) = (is_phrase && is_word, is_name && is_word);
            let is_capital = has_lower && !begins && chunk.starts_with(char::is_uppercase);
            let form = normal(said);
            for whole in search_words(&form).into_iter().filter(|_| !is_no_word(chunk)) {
                let Some((word, stem)) = content_word(whole, &lower).filter(|it| !names_nothing(&it.0, &lower)) else {
                    (is_phrase, is_name) = (self.has_noun_after(whole), false);
                    continue;
                };
                // In "the new boiler", only the last word is a noun; in "the boiler's valve", both are.
                if let Some(last) = terms.last_mut().filter(|_| is_name && ends_phrases) {
                    last.is_noun = false;
                }
                let is_in_phrase = is_capital || is_phrase && !only_capitals || self.0.is_none();
                let ends_name = is_name && (is_in_phrase || !ends_phrases);
                terms.push(ContentWord { word, stem, is_in_phrase, is_noun: is_in_phrase, ends_name });
                let is_owner = whole.contains('\'');
                (is_name, is_phrase) = (!is_owner && (is_capital || is_phrase), is_phrase && ends_phrases);
            }
            begins = is_no_word(chunk) || chunk.ends_with(['.', '!', '?', ':', '…']) || said.is_empty();
            let is_end = said.len() < chunk.len();
            (is_phrase, is_name) = (is_phrase && !is_end, is_name && !is_end);
        }
        terms
    }

    fn has_noun_after(&self, word: &str) -> bool {
        self.0.is_some_and(|words| words.articles.contains(word) || words.prepositions.contains(word))
    }
}

/// Returns `true` for forms of everyday verbs, greetings and thanks.
fn names_nothing(word: &str, text: &str) -> bool {
    is_everyday_verb(word, text) || Languages::shipped().is_courtesy(word)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagWords {
    verbs: HashSet<String>,
    articles: HashSet<String>,
    prepositions: HashSet<String>,
    nouns_end_phrases: bool,
    nouns_have_capitals: bool,
    names: HashSet<String>,
}

static TAG_WORDS: LazyLock<Vec<(&str, TagWords)>> = LazyLock::new(|| {
    let normal = |words: HashSet<String>| words.iter().map(|word| normal(word)).collect();
    let of = |(language, words): (&'static LanguageFile, TagWords)| {
        let TagWords { verbs, articles, prepositions, names, .. } = words;
        let [verbs, articles, prepositions, names] = [verbs, articles, prepositions, names].map(normal);
        (language.short.as_str(), TagWords { verbs, articles, prepositions, names, ..words })
    };
    tables("tags").into_iter().map(of).collect()
});

/// Returns `true` if `word` is a form of an everyday verb in a likely language of `text`: "bring" is what people do in
/// any conversation.
fn is_everyday_verb(word: &str, text: &str) -> bool {
    let languages = || Languages::shipped().likely_codes(text);
    TAG_WORDS.iter().any(|(code, words)| words.verbs.contains(word) && languages().contains(code))
}

/// Returns the language of which a text has the most function words.
pub fn language_of(text: &str) -> Language {
    let codes = Languages::shipped().likely_codes(text);
    let file = languages().iter().find(|file| codes.first() == Some(&file.short.as_str()));
    file.map_or(Language::DEFAULT, |file| Language::from_code(&file.code))
}

/// Returns `true` for a language in which names get endings. In the others, all that a stemmer could find besides the
/// genitive are other names: "Harris" is not "Harry".
pub fn inflects_names(language: Language) -> bool {
    !["eng", "deu", "nld", "fra", "spa", "ita", "por"].contains(&language.code())
}

/// Returns `true` if `next`, a word behind a first name, looks like a surname: a word with a capital, which is no function
/// word, in a language in which other nouns have none.
pub fn is_surname(next: &str, text: &str) -> bool {
    let word = split_words(next).next().unwrap_or_default();
    let mut chars = word.chars();
    let is_title = chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(char::is_lowercase);
    let lower = word.to_lowercase();
    let languages = || Languages::shipped().likely_codes(text);
    let have_capitals =
        || TAG_WORDS.iter().any(|(code, words)| words.nouns_have_capitals && languages().first() == Some(code));
    next.starts_with(word)
        && is_title
        && !Languages::shipped().is_stop_word_in(&lower, &text.to_lowercase())
        && !is_everyday(&lower)
        && !is_time_word(&lower)
        && !have_capitals()
}

/// Returns `true` if a name in lower case is an everyday word in some language, such as "will" or "rose".
pub fn is_everyday(name: &str) -> bool {
    let stop_words = Languages::shipped();
    TAG_WORDS.iter().any(|(code, words)| {
        words.verbs.contains(name)
            || words.names.contains(name)
            || stop_words.has_stop_word(name, std::iter::once(code))
    })
}

/// Returns the words of a text that stand right after an article or the like.
pub fn after_articles(text: &str) -> impl Iterator<Item = &str> {
    let is_article = |word: &str| TAG_WORDS.iter().any(|(_, words)| words.articles.contains(&word.to_lowercase()));
    let pairs = split_words(text).zip(split_words(text).skip(1));
    pairs.filter(move |(before, _)| is_article(before)).map(|(_, word)| word)
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

    #[test]
    fn articles_capitals_and_places_in_phrases_show_nouns() {
        let nouns = |text: &str| {
            let terms = NounSigns::of(text).terms(text).into_iter().filter(|term| term.is_noun);
            terms.map(|term| term.word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(nouns("so we anticipate that the boiler of our club is leaking"), "boiler club");
        assert_eq!(nouns("danke, ich melde das der Leitstelle, auch den neuen Hahn"), "leitstelle hahn");
        assert_eq!(nouns("hay que limpiar la piscina grande y comprar cloro"), "piscina");
        assert_eq!(nouns("я снимал показания для счётчика"), "счётчика");
        let names: Vec<String> = NounSigns::of("the bouncy castle is booked")
            .terms("the bouncy castle is booked")
            .into_iter()
            .filter(|term| term.ends_name)
            .map(|term| term.word)
            .collect();
        assert_eq!(names, ["castle"]);
    }
}
