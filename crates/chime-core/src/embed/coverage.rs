//! Check that the embedding model covers a text. The model was made from 28 languages in Latin, Cyrillic and Greek
//! script. It knows only a few words of other languages and nothing of other scripts, so vectors of such texts would be
//! noise.

/// Most pieces of a known word.
const MAX_PIECES: usize = 2;
/// Smallest average length of the pieces of a known word, in characters.
const MIN_PIECE_CHARS: f64 = 2.5;
/// Smallest share of known words in a covered text.
const MIN_SHARE: f64 = 0.5;

/// Counts of all words and of known words in a text.
#[derive(Debug, Default)]
pub struct Coverage {
    words: u32,
    known: u32,
}

impl Coverage {
    /// Counts a word that was split into this many pieces; `None` if the model cannot read it.
    pub fn count(&mut self, word: &str, pieces: Option<usize>) {
        // Ignores punctuation.
        if word.contains(char::is_alphanumeric) {
            self.words += 1;
            self.known += u32::from(pieces.is_some_and(|pieces| is_known(word, pieces)));
        }
    }

    /// Returns `true` if the text is covered.
    pub fn is_enough(&self) -> bool {
        self.words > 0 && f64::from(self.known) >= MIN_SHARE * f64::from(self.words)
    }
}

fn is_known(word: &str, pieces: usize) -> bool {
    pieces == 1 || (pieces <= MAX_PIECES && word.chars().count() as f64 / pieces as f64 >= MIN_PIECE_CHARS)
}
