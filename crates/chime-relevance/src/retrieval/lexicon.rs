//! Dictionary of the words of a search: each distinct word is stored once, with its stem and, on demand, its trigrams
//! and its vector.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;

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
    read: WordsRead,
}

/// Words of a [`Lexicon`], to be reused by another one of the same language and embedding model.
#[derive(Default)]
pub struct WordsRead {
    /// Words of at most 15 bytes, keyed by these bytes packed into a number. So a lookup needs no second memory access
    /// to compare the text, which would mostly miss the CPU cache.
    short: HashMap<u128, Known>,
    long: HashMap<Box<str>, Known>,
    entries: Vec<LexiconEntry>,
    /// Outline of each entry. They are in a list of their own, so that comparing words does not load whole entries into
    /// the CPU cache.
    outlines: Vec<Outline>,
    /// Number of entries with a vector.
    pub(super) embedded: Cell<usize>,
}

/// Number and kind of a word, stored in the maps so that looking up a word does not read its entry.
#[derive(Clone, Copy)]
struct Known {
    id: WordId,
    /// `true` for a content word, `false` for a stop word.
    is_telling: bool,
}

impl WordsRead {
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    fn truncate(&mut self, most: usize) {
        self.entries.truncate(most);
        self.outlines.truncate(most);
        self.embedded.set(self.entries.iter().filter(|word| word.vector.get().is_some()).count());
        self.short.retain(|_, known| (known.id as usize) < most);
        self.long.retain(|_, known| (known.id as usize) < most);
    }
}

/// Packs a word of at most 15 bytes, and its length, into a number; `None` for a longer word.
fn packed(word: &str) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes[15] = u8::try_from(word.len()).ok().filter(|length| *length < 16)?;
    bytes[..word.len()].copy_from_slice(word.as_bytes());
    Some(u128::from_le_bytes(bytes))
}

pub struct LexiconEntry {
    text: Box<str>,
    pub stem: Box<str>,
    is_telling: bool,
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
        Self::resume(language, embedder, WordsRead::default())
    }

    /// Creates a lexicon that starts with the words of an earlier one.
    pub fn resume(language: Language, embedder: Option<&'e Embedder>, read: WordsRead) -> Self {
        Self { language, stemmer: WordStemmer::new(language), code: language.short(), embedder, read }
    }

    /// Returns the words for reuse. If there are over a quarter more than `most` (or, with a vector, than
    /// `most_vectors`), only the first ones keep their entry (or vector), since common words are usually read first.
    pub fn into_read(self, most: usize, most_vectors: usize) -> WordsRead {
        let mut read = self.read;
        // Truncating visits all words, so it is not done for a small excess.
        let are_many = |count: usize, most: usize| count > most + most / 4;
        if are_many(read.entries.len(), most) {
            read.truncate(most);
        }
        if are_many(read.embedded.get(), most_vectors) {
            let embedded = read.entries.iter_mut().filter(|word| word.vector.get().is_some());
            embedded.skip(most_vectors).for_each(|word| word.vector = OnceCell::new());
            read.embedded.set(most_vectors);
        }
        read
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
            let known = self.known(&lower);
            if known.is_telling {
                telling.push(known.id);
            }
        }
        telling
    }

    /// Returns the number of a word in lower case, and adds the word if it is new.
    pub fn id(&mut self, word: &str) -> WordId {
        self.known(word).id
    }

    fn known(&mut self, word: &str) -> Known {
        let (read, packed) = (&mut self.read, packed(word));
        let found = packed.as_ref().map_or_else(|| read.long.get(word), |packed| read.short.get(packed));
        if let Some(known) = found {
            return *known;
        }
        let id = WordId::try_from(read.entries.len()).unwrap_or(WordId::MAX);
        let known = Known { id, is_telling: !Languages::shipped().is_stop_word_of(word, self.code.iter()) };
        let stem = self.stemmer.stem(word);
        read.outlines.push(Outline::of(word, &stem));
        read.entries.push(LexiconEntry {
            text: word.into(),
            stem: stem.into(),
            is_telling: known.is_telling,
            trigrams: OnceCell::new(),
            vector: OnceCell::new(),
        });
        match packed {
            Some(packed) => read.short.insert(packed, known),
            None => read.long.insert(word.into(), known),
        };
        known
    }

    pub fn word(&self, id: WordId) -> &LexiconEntry {
        &self.read.entries[id as usize]
    }

    pub fn outline(&self, id: WordId) -> Outline {
        self.read.outlines[id as usize]
    }

    /// Returns the vector of a word, of unit length. Empty for a stop word, without an embedding model, or if the model
    /// does not know the word.
    pub fn vector(&self, id: WordId) -> &[f32] {
        let word = self.word(id);
        let Some(embedder) = self.embedder.filter(|_| word.is_telling) else { return &[] };
        word.vector.get_or_init(|| {
            self.read.embedded.set(self.read.embedded.get() + 1);
            embedder.embed(&word.text).into_boxed_slice()
        })
    }

    pub fn count(&self) -> usize {
        self.read.entries.len()
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
    fn of_too_many_words_the_first_are_kept() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        lexicon.telling("the tables burn quickly");
        let mut later = Lexicon::resume(Language::DEFAULT, None, lexicon.into_read(2, 2));
        assert_eq!((later.count(), later.telling("a table, the tables").len(), later.count()), (2, 2, 4));
    }

    #[test]
    fn long_words_are_told_apart_as_short_ones_are() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let said = ["a", "aa", "a\0", "fifteen_letters", "sixteen_letters!", "комната", "комнатами"];
        let ids = said.map(|word| lexicon.id(word));
        assert_eq!(ids, [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(said.map(|word| lexicon.id(word)), ids);
        let mut later = Lexicon::resume(Language::DEFAULT, None, lexicon.into_read(4, 0));
        assert_eq!(said.map(|word| later.id(word)), ids, "those that went are met anew");
    }

    #[test]
    fn vectors_are_made_when_they_are_asked_for_and_of_too_many_the_first_are_kept() {
        let embedder = Embedder::shipped().unwrap();
        let mut lexicon = Lexicon::new(Language::DEFAULT, Some(&embedder));
        let ids = lexicon.telling("boat lake swim rain");
        let with_vectors = |lexicon: &Lexicon<'_>| {
            let entries = lexicon.read.entries.iter();
            entries.map(|word| usize::from(word.vector.get().is_some())).collect::<Vec<_>>()
        };
        assert_eq!(with_vectors(&lexicon), [0, 0, 0, 0]);
        let made: Vec<Vec<f32>> = ids.iter().map(|id| lexicon.vector(*id).to_vec()).collect();
        assert!(made.iter().all(|vector| !vector.is_empty()));
        let later = Lexicon::resume(Language::DEFAULT, Some(&embedder), lexicon.into_read(10, 2));
        assert_eq!(with_vectors(&later), [1, 1, 0, 0]);
        assert!(ids.iter().zip(&made).all(|(id, vector)| later.vector(*id) == vector.as_slice()));
        assert_eq!(later.into_read(10, 4).embedded.get(), 4);
    }
}
