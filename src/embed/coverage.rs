//! Which texts the model knows. It was made from 28 languages in Latin, Cyrillic and Greek script; of another language it
//! knows a few shared words, and of a text in another script nothing. A vector of such a text is noise, so there is none.

use crate::embed::vocabulary::Vocabulary;
use crate::embed::words::each_word;

/// A word in more pieces than this is spelled out rather than known.
const MAX_PIECES: usize = 2;
/// Pieces shorter than this on average are letters rather than words.
const MIN_PIECE_CHARS: f64 = 2.5;
/// Of a text's words, at least this share must be known.
const MIN_SHARE: f64 = 0.5;

/// Whether enough of the words are known for the vector to mean something.
pub fn covers(vocabulary: &Vocabulary, text: &str) -> bool {
    let (mut words, mut known) = (0_u32, 0_u32);
    let mut scratch = String::new();
    // Pieces carry no accents, so words are read as the model reads them; punctuation is no word.
    each_word(text, &mut scratch, |word| {
        if word.contains(char::is_alphanumeric) {
            words += 1;
            known += u32::from(knows(vocabulary, word));
        }
    });
    words > 0 && f64::from(known) >= MIN_SHARE * f64::from(words)
}

fn knows(vocabulary: &Vocabulary, word: &str) -> bool {
    let Some(pieces) = vocabulary.split(word, |_| {}) else { return false };
    let chars = word.chars().count() as f64;
    pieces == 1 || (pieces <= MAX_PIECES && chars / pieces as f64 >= MIN_PIECE_CHARS)
}
