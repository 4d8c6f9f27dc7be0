//! Static embedding model: the vector of a text is the mean of the vectors of its word pieces.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::config::EmbeddingConfig;
use crate::embed::coverage::Coverage;
use crate::embed::table::EmbeddingTable;
use crate::embed::vocabulary::Vocabulary;
use crate::embed::words::each_word;
use crate::{FNV_START, fnv1a};

const SHIPPED: &str = "chat-static-ml-160-int8";
/// Name of the model inside the program, stored with its vectors.
pub const SHIPPED_NAME: &str = "chat-static-ml-160-int8";
const TOKENIZER: &[u8] = include_bytes!("../../../../embedding/chat-static-ml-160-int8/tokenizer.json");
const TABLE: &[u8] = include_bytes!("../../../../embedding/chat-static-ml-160-int8/model.safetensors");
/// Mean vector of many chat texts. It is subtracted from each vector: what all texts share says nothing about one.
const MEAN: &str = include_str!("../../../../embedding/chat-static-ml-160-int8/mean.json");
/// Only this many characters at the start of a text are embedded.
const WITHIN: usize = 1500;
/// Only this many word pieces at the start of a text are embedded.
const PIECES: usize = 512;

/// Converts texts into vectors of unit length.
///
/// The table of vectors is not copied from the executable, so the system loads only the parts that are used. Libraries
/// for such models copy the table and build a tree of the vocabulary, which takes 20 MB of memory.
#[derive(Debug, Clone)]
pub struct Embedder {
    vocabulary: Arc<Vocabulary>,
    table: EmbeddingTable,
    mean: Vec<f32>,
    limits: Limits,
    name: String,
}

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

#[derive(Debug, Clone)]
struct Limits {
    /// Number of the piece that replaces words the model cannot split. It is left out of the mean.
    unknown: Option<u32>,
    word_chars: usize,
}

impl Embedder {
    /// Returns the model inside the program: 28 languages, 160 dimensions, about 20 µs per text. It is parsed once per
    /// process and shared by all clones.
    pub fn shipped() -> Result<Self, EmbedError> {
        static READ: LazyLock<Result<Embedder, String>> = LazyLock::new(|| {
            let mean = serde_json::from_str(MEAN).map_err(|error| error.to_string())?;
            Embedder::of(SHIPPED.to_owned(), TOKENIZER, TABLE, mean)
        });
        READ.clone().map_err(EmbedError::Shipped)
    }

    /// Loads the configured model. Returns `None` if embedding is off or a server does it.
    pub fn load(config: &EmbeddingConfig) -> Result<Option<Self>, EmbedError> {
        match config {
            // Vectors from a server are requested in advance and stored, so there is no model to load.
            EmbeddingConfig::Off | EmbeddingConfig::OpenAi(_) => Ok(None),
            EmbeddingConfig::Local => Self::shipped().map(Some),
            EmbeddingConfig::Model2Vec(folder) => Self::from_folder(folder).map(Some),
        }
    }

    /// Loads a model from the files that the model2vec library writes. Subtracts no mean vector, because there is none.
    fn from_folder(folder: &Path) -> Result<Self, EmbedError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|source| EmbedError::File { path, source })
        };
        let (tokenizer, table) = (read("tokenizer.json")?, read("model.safetensors")?);
        let name = format!("model2vec:{:016x}", fnv1a(fnv1a(FNV_START, &tokenizer), &table));
        // Never freed on purpose: the table is loaded once and needed until the process ends.
        Self::of(name, &tokenizer, table.leak(), Vec::new())
            .map_err(|what| EmbedError::Form { folder: folder.to_owned(), what })
    }

    /// Returns the model's name. It is stored with each vector, because vectors of different models cannot be compared.
    /// The name of a model from a directory contains a hash of its files.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    fn of(name: String, tokenizer: &[u8], table: &'static [u8], mean: Vec<f32>) -> Result<Self, String> {
        let file: TokenizerFile<'_> = serde_json::from_slice(tokenizer).map_err(|error| error.to_string())?;
        let TokenizerModel { vocab: vocabulary, unk_token, max_input_chars_per_word: word_chars } = file.model;
        let table = EmbeddingTable::read(table)?;
        let mut unknown = None;
        vocabulary.split(&unk_token, |piece| unknown = Some(piece));
        Ok(Self { vocabulary: Arc::new(vocabulary), table, mean, limits: Limits { unknown, word_chars }, name })
    }

    /// Returns the unit vector of `text`, or an empty vector if the model does not cover the text.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let text = text.char_indices().nth(WITHIN).map_or(text, |(end, _)| &text[..end]);
        let (pieces, coverage) = self.pieces(text);
        if !coverage.is_enough() {
            return Vec::new();
        }
        let mut vector = self.sum(pieces);
        normalise(&mut vector);
        for (value, mean) in vector.iter_mut().zip(&self.mean) {
            *value -= mean;
        }
        normalise(&mut vector);
        let is_noise = vector.iter().all(|value| *value == 0.0) || vector.iter().any(|value| !value.is_finite());
        if is_noise { Vec::new() } else { vector }
    }

    /// Returns how rare a word is in ordinary conversation, from 0 for "care" to 1 for "dentist". The model gives rare
    /// words longer vectors. Words of several pieces and unknown words count as rare (1). With any other model than the
    /// shipped one, all words do.
    pub fn rarity(&self, word: &str) -> f64 {
        /// Lengths of the vectors of everyday words and of rare ones.
        const LENGTHS: (f32, f32) = (4.5, 7.0);
        let (pieces, _) = self.pieces(word);
        if self.name != SHIPPED || pieces.len() != 1 || self.limits.unknown == pieces.first().copied() {
            return 1.0;
        }
        let length = self.sum(pieces).iter().map(|value| value * value).sum::<f32>().sqrt();
        f64::from(((length - LENGTHS.0) / (LENGTHS.1 - LENGTHS.0)).clamp(0.0, 1.0))
    }

    /// Splits a text into the numbers of its pieces, and counts its known words.
    fn pieces(&self, text: &str) -> (Vec<u32>, Coverage) {
        let (mut pieces, mut coverage) = (Vec::with_capacity(text.len() / 4), Coverage::default());
        let mut scratch = String::new();
        each_word(text, &mut scratch, |word| {
            let known = pieces.len();
            let is_short = word.len() <= self.limits.word_chars || word.chars().count() <= self.limits.word_chars;
            let split = if is_short { self.vocabulary.split(word, |piece| pieces.push(piece)) } else { None };
            coverage.count(word, split);
            if split.is_none() {
                pieces.truncate(known);
                pieces.extend(self.limits.unknown);
            }
        });
        (pieces, coverage)
    }

    /// Returns the sum of the vectors of the pieces. Its length is not normalised, since only the direction matters.
    fn sum(&self, pieces: Vec<u32>) -> Vec<f32> {
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

    /// Compares every 37th value of a vector with the output of the Python library model2vec for the same files.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let embedder = Embedder::shipped().unwrap();
        let mut sum = embedder.sum(embedder.pieces(text).0);
        normalise(&mut sum);
        let shown: Vec<String> = sum.iter().step_by(37).map(|value| format!("{value:.5}")).collect();
        assert_eq!(shown.join(" "), expected, "{text}");
    }

    #[test]
    fn vectors_are_those_of_the_models_own_library() {
        check("Shall we book a table at the restaurant?", "-0.18657 0.00039 -0.05973 0.08537 -0.00091");
        check("I'm at 7:30pm, naïve café — \"don't\" wait!! 😂", "-0.17514 -0.07596 0.01916 0.10221 -0.00851");
        check(
            "supercalifragilisticexpialidocious antidisestablishmentarianism",
            "-0.32860 -0.02144 -0.04003 -0.00831 -0.01371",
        );
        check("Пойдём в ресторан в пятницу?", "-0.24645 -0.04403 0.04579 0.03565 0.03912");
        check("Jäädvustame õhtu – tule kell 19.30!", "-0.16131 0.08489 0.03782 0.04070 -0.01790");
    }

    #[test]
    fn a_folder_with_the_same_files_is_the_same_model_but_for_its_centre() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../embedding/chat-static-ml-160-int8");
        let named = Embedder::load(&EmbeddingConfig::Model2Vec(folder)).unwrap().unwrap();
        let text = "Shall we book a table at the restaurant?";
        let sum = |embedder: &Embedder| embedder.sum(embedder.pieces(text).0);
        assert_eq!(sum(&named), sum(&Embedder::shipped().unwrap()));
        assert!(named.name().starts_with("model2vec:") && named.name() != Embedder::shipped().unwrap().name());
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
    fn the_same_said_in_another_language_is_close() {
        let english = "Shall we go to the restaurant on Friday?";
        let far = similarity(english, "Der Compiler lehnt diese Lebensdauer ab");
        for translation in [
            "Пойдём в ресторан в пятницу?",
            "Gehen wir am Freitag ins Restaurant?",
            "¿Vamos al restaurante el viernes?",
            "Cuma günü restorana gidelim mi?",
            "Lähme reedel restorani?",
        ] {
            let near = similarity(english, translation);
            assert!(near > far + 0.1, "{translation}: {near} {far}");
        }
    }

    /// Accents are removed before the lookup, and an apostrophe splits a word: neither makes a word unknown.
    #[test]
    fn words_with_accents_and_apostrophes_are_known() {
        let embedder = Embedder::shipped().unwrap();
        for text in
            ["Příště přijdeme později", "Wyślę jutro później", "Şöyle yapalım öğleden önce", "don't won't can't"]
        {
            assert_eq!(embedder.embed(text).len(), 160, "{text}");
        }
    }

    #[test]
    fn everyday_words_are_not_rare() {
        let embedder = Embedder::shipped().unwrap();
        let are_rare = |words: &str| -> Vec<bool> { words.split(' ').map(|it| embedder.rarity(it) > 0.5).collect() };
        assert_eq!(are_rare("care cool thanks today"), [false; 4]);
        assert_eq!(are_rare("dentist kitchen syntax vagrant"), [true; 4]);
    }

    #[test]
    fn a_text_that_the_model_does_not_know_has_no_vector() {
        let embedder = Embedder::shipped().unwrap();
        assert!(embedder.embed("金曜日にレストランに行きましょうか").is_empty());
        assert!(embedder.embed("წავიდეთ რესტორანში პარასკევს?").is_empty());
        assert!(embedder.embed("😂😂").is_empty());
        assert!(embedder.embed("").is_empty());
        assert_eq!(embedder.embed("see you tomorrow").len(), 160);
    }
}
