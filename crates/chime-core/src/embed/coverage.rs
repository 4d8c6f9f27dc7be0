//! Checks that the embedding model knows enough words of a text. The model was made from 28 languages in Latin,
//! Cyrillic and Greek script. It knows few words of other languages and none in other scripts, so vectors of such texts
//! would be meaningless.

/// A word counts as known if the model splits it into at most this many pieces.
const MAX_PIECES: usize = 2;
/// If it is more than one piece, the pieces must be on average at least this many characters long.
const MIN_PIECE_CHARS: f64 = 2.5;
/// A text is covered if at least this share of its words is known.
const MIN_SHARE: f64 = 0.5;

/// Numbers of all words and of known words in a text.
#[derive(Debug, Default)]
pub struct Coverage {
    words: u32,
    known: u32,
}

impl Coverage {
    /// Counts a word. `pieces` is the number of pieces into which the model splits it, `None` if it cannot split it.
    pub fn count(&mut self, word: &str, pieces: Option<usize>) {
        // Punctuation marks are words too, but do not count.
        if word.contains(char::is_alphanumeric) {
            self.words += 1;
            self.known += u32::from(pieces.is_some_and(|pieces| is_known(word, pieces)));
        }
    }

    /// Returns `true` if enough words are known for a meaningful vector.
    pub fn is_enough(&self) -> bool {
        self.words > 0 && f64::from(self.known) >= MIN_SHARE * f64::from(self.words)
    }
}

fn is_known(word: &str, pieces: usize) -> bool {
    pieces == 1 || (pieces <= MAX_PIECES && word.chars().count() as f64 / pieces as f64 >= MIN_PIECE_CHARS)
}
