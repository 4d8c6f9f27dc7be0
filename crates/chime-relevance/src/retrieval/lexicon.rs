//! Dictionary of the words of a search: each distinct word is stored once, with its stem and, on demand, its trigrams
//! and its vector.

use std::cell::OnceCell;

use crate::context::features::token::Quick;
use crate::retrieval::words::lower_into;
use chime_core::embed::Embedder;
use chime_core::trigger::Languages;
use chime_core::{Language, WordStemmer, folded, search_words};

/// Number of a word in a [`Lexicon`], from 0 in the order of first occurrence.
pub type WordId = u32;

/// Dictionary of all words that a search has read so far.
pub struct Lexicon<'e> {
    pub language: Language,
    stemmer: WordStemmer,
    /// Two-letter code of the language; `None` if its stop words are not known, so that every word is a content word.
    code: Option<&'static str>,
    embedder: Option<&'e Embedder>,
    ids: Quick<Box<str>, WordId>,
    entries: Vec<LexiconEntry>,
}

pub struct LexiconEntry {
    text: Box<str>,
    pub stem: Box<str>,
    /// `true` for a content word, `false` for a stop word.
    is_telling: bool,
    pub outline: Outline,
    trigrams: OnceCell<Box<[u64]>>,
    vector: OnceCell<Box<[f32]>>,
}

impl LexiconEntry {
    /// Returns the word's distinct trigrams, ascending: three characters packed into a number, with `^` before the word
    /// and `$` after it. They are computed on first use, since [`Outline`]s rule out most pairs of words.
    pub fn trigrams(&self) -> &[u64] {
        self.trigrams.get_or_init(|| {
            let mut packed: Vec<u64> = trigrams(&self.text).collect();
            packed.sort_unstable();
            packed.dedup();
            packed.into_boxed_slice()
        })
    }
}

/// Summary of a word. For most pairs of words it shows at little cost that they are not similar.
#[derive(Debug, Clone, Copy)]
pub struct Outline {
    /// First eight bytes of the stem, as a number.
    stem: u64,
    /// Bitmap of the hashes of the word's trigrams. Several trigrams may share a bit.
    trigrams: u64,
    /// Number of the word's trigrams, repeated ones included.
    count: u32,
}

impl Outline {
    fn of(word: &str, stem: &str) -> Self {
        let mut first = [0; 8];
        first.iter_mut().zip(stem.bytes()).for_each(|(to, from)| *to = from);
        let (mut bits, mut count) = (0, 0);
        for trigram in trigrams(word) {
            bits |= 1 << (trigram.wrapping_mul(0xf135_7aea_2e62_a9c5) >> 58);
            count += 1;
        }
        Self { stem: u64::from_le_bytes(first), trigrams: bits, count }
    }

    /// Returns `true` if the first eight bytes of both stems are equal, so that the stems may be equal too.
    pub fn may_share_stem(self, other: Self) -> bool {
        self.stem == other.stem
    }

    /// Returns an upper bound of the Dice coefficient of both words' trigrams: the share that they have in common.
    pub fn most_in_common(self, other: Self) -> f64 {
        let (bits, of_other) = (self.trigrams.count_ones(), other.trigrams.count_ones());
        // A shared trigram sets its bit in both bitmaps. Trigrams that share a bit with another one are invisible; they
        // count as shared, so that the bound is never too low.
        let unseen = (self.count - bits).min(other.count - of_other);
        let shared = (self.trigrams & other.trigrams).count_ones() + unseen;
        2.0 * f64::from(shared) / f64::from((bits + of_other).max(1))
    }
}

impl<'e> Lexicon<'e> {
    /// Creates an empty lexicon. Without an embedding model words have no vectors.
    pub fn new(language: Language, embedder: Option<&'e Embedder>) -> Self {
        let (stemmer, code) = (WordStemmer::new(language), language.short());
        Self { language, stemmer, code, embedder, ids: Quick::default(), entries: Vec::new() }
    }

    pub fn embedder(&self) -> Option<&'e Embedder> {
        self.embedder
    }

    /// Returns the content words of a text in order, with repetitions.
    pub fn telling(&mut self, text: &str) -> Vec<WordId> {
        let mut lower = String::new();
        let mut telling = Vec::with_capacity(text.len() / 6);
        for word in search_words(&folded(text)) {
            lower_into(word, &mut lower);
            let id = self.id(&lower);
            if self.word(id).is_telling {
                telling.push(id);
            }
        }
        telling
    }

    /// Returns the number of a word in lower case, and adds the word if it is new.
    pub fn id(&mut self, word: &str) -> WordId {
        if let Some(id) = self.ids.get(word) {
            return *id;
        }
        let id = WordId::try_from(self.entries.len()).unwrap_or(WordId::MAX);
        let stem = self.stemmer.stem(word);
        self.entries.push(LexiconEntry {
            text: word.into(),
            is_telling: !Languages::shipped().is_stop_word_of(word, self.code.iter()),
            outline: Outline::of(word, &stem),
            stem: stem.into(),
            trigrams: OnceCell::new(),
            vector: OnceCell::new(),
        });
        self.ids.insert(word.into(), id);
        id
    }

    pub fn word(&self, id: WordId) -> &LexiconEntry {
        &self.entries[id as usize]
    }

    /// Returns the vector of a word, of unit length. Empty for a stop word, without an embedding model, or if the model
    /// does not know the word.
    pub fn vector(&self, id: WordId) -> &[f32] {
        let word = self.word(id);
        let Some(embedder) = self.embedder.filter(|_| word.is_telling) else { return &[] };
        word.vector.get_or_init(|| embedder.embed(&word.text).into_boxed_slice())
    }

    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of words with a vector.
    #[cfg(test)]
    pub fn embedded(&self) -> usize {
        self.entries.iter().filter(|word| word.vector.get().is_some()).count()
    }
}

/// Number of bits of a character in a packed trigram: three of 21 bits fit into a `u64`.
const CHAR_BITS: u32 = 21;

/// Returns the packed trigrams of a word in order, with `^` before the word and `$` after it.
fn trigrams(word: &str) -> impl Iterator<Item = u64> {
    let mut marked =
        std::iter::once('^').chain(word.chars()).chain(std::iter::once('$')).map(|c| u64::from(u32::from(c)));
    let mut before = (marked.next().unwrap_or_default(), marked.next().unwrap_or_default());
    marked.map(move |c| {
        let packed = before.0 << (2 * CHAR_BITS) | before.1 << CHAR_BITS | c;
        before = (before.1, c);
        packed
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;

    #[test]
    fn a_word_is_kept_once_with_its_stem_and_trigrams() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let ids: Vec<WordId> = words("Tables table TABLES").iter().map(|word| lexicon.id(word)).collect();
        assert_eq!(ids, [0, 1, 0]);
        assert_eq!(lexicon.word(0).stem, lexicon.word(1).stem);
        assert_eq!((lexicon.word(1).trigrams().len(), lexicon.count()), (5, 2));
    }

    #[test]
    fn vectors_are_made_when_they_are_asked_for() {
        let embedder = Embedder::shipped().unwrap();
        let mut lexicon = Lexicon::new(Language::DEFAULT, Some(&embedder));
        let ids = lexicon.telling("boat lake swim rain");
        assert_eq!(lexicon.embedded(), 0);
        assert!(!lexicon.vector(ids[1]).is_empty());
        assert_eq!(lexicon.embedded(), 1);
    }
}
