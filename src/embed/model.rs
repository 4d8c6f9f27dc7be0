//! The static model: a text's vector is the mean of its pieces' vectors.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::EmbeddingConfig;
use crate::embed::coverage::covers;
use crate::embed::table::Table;
use crate::embed::vocabulary::Vocabulary;
use crate::embed::words::each_word;

const TOKENIZER: &[u8] = include_bytes!("../../embedding/chat-static-256-int8/tokenizer.json");
const TABLE: &[u8] = include_bytes!("../../embedding/chat-static-256-int8/model.safetensors");
/// The mean vector of chat texts. All texts share it, so it says nothing about any.
const MEAN: &str = include_str!("../../embedding/mean.json");
/// Characters of a text that are embedded.
const WITHIN: usize = 1500;
/// Pieces of a text that are embedded.
const PIECES: usize = 512;

/// Turns texts into vectors of unit length.
///
/// The table is read where it lies in the program: only the rows of words that were met ever come into memory. Libraries
/// for such models copy it and keep a tree of the vocabulary beside it, which takes 20 MB.
pub struct Embedder {
    vocabulary: Vocabulary,
    table: Table,
    mean: Vec<f32>,
    limits: Limits,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model inside the program cannot be read: {0}")]
    Shipped(String),
    #[error("{} cannot be read: {source}", .path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{} holds no static model with a WordPiece tokenizer: {what}", .folder.display())]
    Form { folder: PathBuf, what: String },
}

#[derive(Deserialize)]
struct TokenizerFile<'a> {
    #[serde(borrow)]
    model: TokenizerModel<'a>,
}

#[derive(Deserialize)]
struct TokenizerModel<'a> {
    vocab: Vocabulary,
    #[serde(borrow)]
    unk_token: Cow<'a, str>,
    max_input_chars_per_word: usize,
}

struct Limits {
    /// The piece that stands for words that cannot be read; it says nothing.
    unknown: Option<u32>,
    word_chars: usize,
}

impl Embedder {
    /// The model that is part of the program. English; 256 dimensions; about 2 µs a text.
    pub fn shipped() -> Result<Self, EmbedError> {
        let mean = serde_json::from_str(MEAN).map_err(|error| EmbedError::Shipped(error.to_string()))?;
        Self::of(TOKENIZER, TABLE, mean).map_err(EmbedError::Shipped)
    }

    /// The model that the operator chose; none where it is switched off.
    pub fn load(config: &EmbeddingConfig) -> Result<Option<Self>, EmbedError> {
        match config {
            // Vectors of a server are fetched ahead and kept: nothing is computed here.
            EmbeddingConfig::Off | EmbeddingConfig::OpenAi(_) => Ok(None),
            EmbeddingConfig::Local => Self::shipped().map(Some),
            EmbeddingConfig::Model2Vec(folder) => Self::from_folder(folder).map(Some),
        }
    }

    /// A model in the files that the library model2vec writes. What its texts share is not known, so nothing is taken off.
    fn from_folder(folder: &Path) -> Result<Self, EmbedError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|source| EmbedError::File { path, source })
        };
        let (tokenizer, table) = (read("tokenizer.json")?, read("model.safetensors")?);
        // Loaded once, and needed until the end.
        Self::of(&tokenizer, table.leak(), Vec::new())
            .map_err(|what| EmbedError::Form { folder: folder.to_owned(), what })
    }

    fn of(tokenizer: &[u8], table: &'static [u8], mean: Vec<f32>) -> Result<Self, String> {
        let file: TokenizerFile<'_> = serde_json::from_slice(tokenizer).map_err(|error| error.to_string())?;
        let TokenizerModel { vocab: vocabulary, unk_token, max_input_chars_per_word: word_chars } = file.model;
        let table = Table::read(table)?;
        let mut unknown = None;
        vocabulary.split(&unk_token, |piece| unknown = Some(piece));
        Ok(Self { vocabulary, table, mean, limits: Limits { unknown, word_chars } })
    }

    /// The vector of `text`; empty where the model does not know enough of it.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let text = text.char_indices().nth(WITHIN).map_or(text, |(end, _)| &text[..end]);
        if text.trim().is_empty() || !covers(&self.vocabulary, text) {
            return Vec::new();
        }
        let mut vector = self.sum(text);
        normalise(&mut vector);
        for (value, mean) in vector.iter_mut().zip(&self.mean) {
            *value -= mean;
        }
        normalise(&mut vector);
        let is_noise = vector.iter().all(|value| *value == 0.0) || vector.iter().any(|value| !value.is_finite());
        if is_noise { Vec::new() } else { vector }
    }

    /// The sum of the pieces' vectors. Its length says nothing.
    fn sum(&self, text: &str) -> Vec<f32> {
        let mut pieces: Vec<u32> = Vec::with_capacity(text.len() / 4);
        let mut scratch = String::new();
        each_word(text, &mut scratch, |word| {
            let known = pieces.len();
            let is_short = word.len() <= self.limits.word_chars || word.chars().count() <= self.limits.word_chars;
            if !is_short || self.vocabulary.split(word, |piece| pieces.push(piece)).is_none() {
                pieces.truncate(known);
                pieces.extend(self.limits.unknown);
            }
        });
        let mut sum = vec![0.0; self.table.dimensions()];
        for piece in pieces.into_iter().take(PIECES).filter(|piece| Some(*piece) != self.limits.unknown) {
            self.table.add(piece, &mut sum);
        }
        sum
    }
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(a: &str, b: &str) -> f32 {
        let embedder = Embedder::shipped().unwrap();
        embedder.embed(a).iter().zip(embedder.embed(b)).map(|(a, b)| a * b).sum()
    }

    /// A few numbers of a vector, as the model's own library for Rust computed them from the same files.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let embedder = Embedder::shipped().unwrap();
        let mut sum = embedder.sum(text);
        normalise(&mut sum);
        let shown: Vec<String> = sum.iter().step_by(37).map(|value| format!("{value:.5}")).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn vectors_are_those_of_the_models_own_library() {
        check("Shall we book a table at the restaurant?", "0.33390 -0.17098 0.05331 0.08358 0.00305 0.04104 -0.00401");
        check(
            "I'm at 7:30pm, naïve café — \"don't\" wait!! 😂",
            "0.28289 0.13640 0.04698 0.00783 -0.07181 0.00818 -0.04703",
        );
        check(
            "supercalifragilisticexpialidocious antidisestablishmentarianism",
            "0.08477 0.07661 -0.05744 -0.03495 0.06159 -0.00806 0.04828",
        );
    }

    #[test]
    fn a_folder_with_the_same_files_is_the_same_model_but_for_its_centre() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("embedding/chat-static-256-int8");
        let named = Embedder::load(&EmbeddingConfig::Model2Vec(folder)).unwrap().unwrap();
        let text = "Shall we book a table at the restaurant?";
        assert_eq!(named.sum(text), Embedder::shipped().unwrap().sum(text));
        assert!(Embedder::load(&EmbeddingConfig::Off).unwrap().is_none());
        let nowhere = Embedder::load(&EmbeddingConfig::Model2Vec("/no/such/folder".into()));
        assert!(matches!(nowhere, Err(EmbedError::File { .. })));
    }

    #[test]
    fn texts_about_the_same_matter_are_close() {
        let near = similarity("Shall we book a table at the restaurant?", "The thai place has room for dinner");
        let far = similarity("Shall we book a table at the restaurant?", "The compiler rejects this lifetime");
        assert!(near > far + 0.1, "{near} {far}");
    }

    #[test]
    fn a_text_that_the_model_does_not_know_has_no_vector() {
        let embedder = Embedder::shipped().unwrap();
        assert!(embedder.embed("Пойдём в ресторан в пятницу?").is_empty());
        assert!(embedder.embed("😂😂").is_empty());
        assert!(embedder.embed("").is_empty());
        assert_eq!(embedder.embed("see you tomorrow").len(), 256);
    }
}
