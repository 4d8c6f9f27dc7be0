//! The words of a search: each distinct word once, with its stem, its trigrams and its vector.

use std::collections::HashMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::domain::{Language, WordStemmer};
use crate::embed::Embedder;
use crate::trigger::Languages;

/// The words of a text in order, lower-case.
pub fn words(text: &str) -> Vec<String> {
    text.unicode_words().map(lower).collect()
}

fn lower(word: &str) -> String {
    let mut lower = String::new();
    lower_into(word, &mut lower);
    lower
}

fn lower_into(word: &str, lower: &mut String) {
    lower.clear();
    if word.is_ascii() {
        lower.push_str(word);
        lower.make_ascii_lowercase();
    } else {
        // A last sigma depends on its place, which only the whole word tells.
        lower.push_str(&word.to_lowercase().replace('’', "'"));
    }
}

/// A word of a [`Lexicon`].
pub type WordId = u32;

/// Every word that was met, once.
pub struct Lexicon<'e> {
    stemmer: WordStemmer,
    embedder: Option<&'e Embedder>,
    read: WordsRead,
}

/// What a [`Lexicon`] read of words, to be gone on with by another of the same language and embedding model.
#[derive(Default)]
pub struct WordsRead {
    ids: HashMap<String, WordId>,
    entries: Vec<Word>,
}

impl WordsRead {
    pub fn count(&self) -> usize {
        self.entries.len()
    }
}

pub struct Word {
    pub stem: String,
    /// No function word.
    is_telling: bool,
    /// Of the word between two marks, packed, ascending, each once.
    pub trigrams: Vec<u64>,
    /// Of unit length; empty where the embedding model does not know the word.
    pub vector: Vec<f32>,
}

impl<'e> Lexicon<'e> {
    /// Without an embedding model words have no vectors.
    pub fn new(language: Language, embedder: Option<&'e Embedder>) -> Self {
        Self::resume(language, embedder, WordsRead::default())
    }

    /// Goes on with words that were read before.
    pub fn resume(language: Language, embedder: Option<&'e Embedder>, read: WordsRead) -> Self {
        Self { stemmer: WordStemmer::new(language), embedder, read }
    }

    /// What was read, to be kept: of many more than `most` words the ones that were met first, since common ones are.
    pub fn into_read(mut self, most: usize) -> WordsRead {
        // All of them are looked at where some go, so that it is not done for a few.
        if self.read.entries.len() > most + most / 4 {
            self.read.entries.truncate(most);
            self.read.ids.retain(|_, id| (*id as usize) < most);
        }
        self.read
    }

    pub fn embedder(&self) -> Option<&'e Embedder> {
        self.embedder
    }

    /// The words of a text that tell something, in order.
    pub fn telling(&mut self, text: &str) -> Vec<WordId> {
        let mut lower = String::new();
        let mut telling = Vec::with_capacity(text.len() / 6);
        for word in text.unicode_words() {
            lower_into(word, &mut lower);
            let known = self.read.ids.get(lower.as_str()).copied();
            let id = known.unwrap_or_else(|| self.id(lower.clone()));
            if self.word(id).is_telling {
                telling.push(id);
            }
        }
        telling
    }

    /// Its number; new words are added.
    pub fn id(&mut self, word: String) -> WordId {
        if let Some(id) = self.read.ids.get(&word) {
            return *id;
        }
        let id = WordId::try_from(self.read.entries.len()).unwrap_or(WordId::MAX);
        let is_telling = !Languages::shipped().is_stop_word(&word);
        let embedder = self.embedder.filter(|_| is_telling);
        self.read.entries.push(Word {
            stem: self.stemmer.stem(&word).into_owned(),
            is_telling,
            trigrams: trigrams(&word),
            vector: embedder.map_or_else(Vec::new, |embedder| embedder.embed(&word)),
        });
        self.read.ids.insert(word, id);
        id
    }

    pub fn word(&self, id: WordId) -> &Word {
        &self.read.entries[id as usize]
    }

    /// How many words were met.
    pub fn count(&self) -> usize {
        self.read.entries.len()
    }
}

/// Bits of a character in a packed trigram: three of 21 bits fit.
const CHAR_BITS: u32 = 21;

fn trigrams(word: &str) -> Vec<u64> {
    let marked: Vec<u64> =
        std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).map(|c| u64::from(u32::from(c))).collect();
    let mut packed: Vec<u64> =
        marked.windows(3).map(|of| of[0] << (2 * CHAR_BITS) | of[1] << CHAR_BITS | of[2]).collect();
    packed.sort_unstable();
    packed.dedup();
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_kept_once_with_its_stem_and_trigrams() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let ids: Vec<WordId> = words("Tables table TABLES").into_iter().map(|word| lexicon.id(word)).collect();
        assert_eq!(ids, [0, 1, 0]);
        assert_eq!(lexicon.word(0).stem, lexicon.word(1).stem);
        assert_eq!((lexicon.word(1).trigrams.len(), lexicon.count()), (5, 2));
    }

    #[test]
    fn of_too_many_words_the_first_are_kept() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        lexicon.telling("the tables burn quickly");
        let mut later = Lexicon::resume(Language::DEFAULT, None, lexicon.into_read(2));
        assert_eq!((later.count(), later.telling("a table, the tables").len(), later.count()), (2, 2, 4));
    }

    #[test]
    fn words_are_lower_case_with_one_kind_of_apostrophe() {
        assert_eq!(words("Don’t go, at 7.30!"), ["don't", "go", "at", "7.30"]);
    }
}
