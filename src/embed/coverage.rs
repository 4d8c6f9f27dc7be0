//! Which texts the model knows. It was made from English: of other languages it knows a few shared words, and of a text in
//! another script nothing. A vector of such a text is noise, so there is none.

use std::collections::HashSet;

use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

/// A word in more pieces than this is spelled out rather than known.
const MAX_PIECES: usize = 2;
/// Pieces shorter than this on average are letters rather than words.
const MIN_PIECE_CHARS: f64 = 2.5;
/// Of a text's words, at least this share must be known.
const MIN_SHARE: f64 = 0.5;

/// The pieces of words that a WordPiece model knows.
#[derive(Debug)]
pub struct Coverage {
    /// Pieces that go on inside a word begin with `##`.
    pieces: HashSet<Box<str>>,
}

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: std::collections::HashMap<Box<str>, u32>,
}

impl Coverage {
    /// From the model's `tokenizer.json`; none for models that do not split words into such pieces.
    pub fn read(tokenizer: &[u8]) -> Option<Self> {
        let file: TokenizerFile = serde_json::from_slice(tokenizer).ok()?;
        let pieces: HashSet<Box<str>> = file.model.vocab.into_keys().collect();
        pieces.iter().any(|piece| piece.starts_with("##")).then_some(Self { pieces })
    }

    /// Whether enough of the words are known for the vector to mean something.
    pub fn covers(&self, text: &str) -> bool {
        let (mut words, mut known) = (0_u32, 0_u32);
        for word in text.unicode_words() {
            words += 1;
            known += u32::from(self.knows(&word.to_lowercase()));
        }
        words > 0 && f64::from(known) >= MIN_SHARE * f64::from(words)
    }

    fn knows(&self, word: &str) -> bool {
        let Some(pieces) = self.split(word) else { return false };
        let chars = word.chars().count() as f64;
        pieces == 1 || (pieces <= MAX_PIECES && chars / pieces as f64 >= MIN_PIECE_CHARS)
    }

    /// In how many pieces the model reads the word, the longest first; none when it cannot.
    fn split(&self, word: &str) -> Option<usize> {
        let (mut rest, mut pieces) = (word, 0);
        while !rest.is_empty() {
            let ends = rest.char_indices().map(|(start, c)| start + c.len_utf8());
            let longest = ends.rev().find(|end| {
                let piece = &rest[..*end];
                if pieces == 0 {
                    self.pieces.contains(piece)
                } else {
                    self.pieces.contains(format!("##{piece}").as_str())
                }
            })?;
            rest = &rest[longest..];
            pieces += 1;
        }
        Some(pieces)
    }
}
