//! Index of phrases, for finding the longest one at a place of a text.

use std::collections::HashMap;

/// Phrases with what they mean. The words of a phrase must follow each other.
#[derive(Debug, PartialEq, Eq)]
pub struct PhraseIndex<T> {
    /// Phrases whose first word must match exactly, keyed by that word.
    closed: HashMap<String, Vec<Phrase<T>>>,
    /// Phrases whose first word matches with any ending. They have to be tried one by one.
    open: Vec<Phrase<T>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Phrase<T> {
    words: Vec<PhraseWord>,
    meaning: T,
    /// Number of phrases added before.
    place: usize,
}

/// Word of a phrase, prepared as the words of the texts are.
#[derive(Debug, PartialEq, Eq)]
pub struct PhraseWord {
    pub text: String,
    /// `true` if the word matches with any ending.
    pub is_open: bool,
}

impl<T> Default for PhraseIndex<T> {
    fn default() -> Self {
        Self { closed: HashMap::new(), open: Vec::new() }
    }
}

impl<T> FromIterator<(Vec<PhraseWord>, T)> for PhraseIndex<T> {
    /// Skips phrases without a word.
    fn from_iter<I: IntoIterator<Item = (Vec<PhraseWord>, T)>>(phrases: I) -> Self {
        let mut index = Self::default();
        for (place, (words, meaning)) in phrases.into_iter().enumerate() {
            let phrases = match words.first() {
                Some(first) if first.is_open => &mut index.open,
                Some(first) => index.closed.entry(first.text.clone()).or_default(),
                None => continue,
            };
            phrases.push(Phrase { words, meaning, place });
        }
        index
    }
}

impl<T> PhraseIndex<T> {
    /// Returns the longest phrase at the start of `words`: its number of words and its meaning. Of several equally long
    /// ones, the last in the order of the index.
    pub fn longest<W: AsRef<str>>(&self, words: &[W]) -> Option<(usize, &T)> {
        let closed = self.closed.get(words.first()?.as_ref()).into_iter().flatten();
        let found = closed.chain(&self.open).filter(|phrase| phrase.begins(words));
        found
            .max_by_key(|phrase| (phrase.words.len(), phrase.place))
            .map(|phrase| (phrase.words.len(), &phrase.meaning))
    }

    pub fn phrases(&self) -> impl Iterator<Item = &[PhraseWord]> {
        self.closed.values().flatten().chain(&self.open).map(|phrase| phrase.words.as_slice())
    }
}

impl<T> Phrase<T> {
    fn begins<W: AsRef<str>>(&self, words: &[W]) -> bool {
        let is_met = |(known, word): (&PhraseWord, &W)| match known.is_open {
            true => word.as_ref().starts_with(&known.text),
            false => word.as_ref() == known.text,
        };
        words.len() >= self.words.len() && self.words.iter().zip(words).all(is_met)
    }
}
