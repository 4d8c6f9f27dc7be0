//! Which texts the model knows. It was made from 28 languages in Latin, Cyrillic and Greek script; of another language it
//! knows a few shared words, and of a text in another script nothing. A vector of such a text is noise, so there is none.

/// A word in more pieces than this is spelled out rather than known.
const MAX_PIECES: usize = 2;
/// Pieces shorter than this on average are letters rather than words.
const MIN_PIECE_CHARS: f64 = 2.5;
/// Of a text's words, at least this share must be known.
const MIN_SHARE: f64 = 0.5;

/// Counts the words of a text, and those of them that are known.
#[derive(Debug, Default)]
pub struct Coverage {
    words: u32,
    known: u32,
}

impl Coverage {
    /// Takes in a word, as the model reads it, with the number of its pieces; none where it cannot be read whole.
    pub fn count(&mut self, word: &str, pieces: Option<usize>) {
        // Punctuation is no word.
        if word.contains(char::is_alphanumeric) {
            self.words += 1;
            self.known += u32::from(pieces.is_some_and(|pieces| is_known(word, pieces)));
        }
    }

    /// Whether enough of the words are known for the vector to mean something.
    pub fn is_enough(&self) -> bool {
        self.words > 0 && f64::from(self.known) >= MIN_SHARE * f64::from(self.words)
    }
}

fn is_known(word: &str, pieces: usize) -> bool {
    pieces == 1 || (pieces <= MAX_PIECES && word.chars().count() as f64 / pieces as f64 >= MIN_PIECE_CHARS)
}
