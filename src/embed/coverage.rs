//! Which texts the model knows. It was made from English: of other languages it knows a few shared words, and of a text in
//! another script nothing. A vector of such a text is noise, so there is none.

use unicode_segmentation::UnicodeSegmentation;

use crate::embed::vocabulary::Vocabulary;

/// A word in more pieces than this is spelled out rather than known.
const MAX_PIECES: usize = 2;
/// Pieces shorter than this on average are letters rather than words.
const MIN_PIECE_CHARS: f64 = 2.5;
/// Of a text's words, at least this share must be known.
const MIN_SHARE: f64 = 0.5;

/// Whether enough of the words are known for the vector to mean something.
pub fn covers(vocabulary: &Vocabulary, text: &str) -> bool {
    let (mut words, mut known) = (0_u32, 0_u32);
    for word in text.unicode_words() {
        words += 1;
        known += u32::from(knows(vocabulary, &word.to_lowercase()));
    }
    words > 0 && f64::from(known) >= MIN_SHARE * f64::from(words)
}

fn knows(vocabulary: &Vocabulary, word: &str) -> bool {
    let Some(pieces) = vocabulary.split(word, |_| {}) else { return false };
    let chars = word.chars().count() as f64;
    pieces == 1 || (pieces <= MAX_PIECES && chars / pieces as f64 >= MIN_PIECE_CHARS)
}
