//! The static model: a text's vector is the mean of its tokens' vectors.

use std::path::{Path, PathBuf};

use model2vec_rs::model::StaticModel;

use crate::embed::coverage::Coverage;

const TOKENIZER: &[u8] = include_bytes!("../../embedding/chat-static-256-int8/tokenizer.json");
const TABLE: &[u8] = include_bytes!("../../embedding/chat-static-256-int8/model.safetensors");
const SETTINGS: &[u8] = include_bytes!("../../embedding/chat-static-256-int8/config.json");
/// The mean vector of chat texts. All texts share it, so it says nothing about any.
const MEAN: &str = include_str!("../../embedding/mean.json");
/// Characters of a text that are embedded.
const WITHIN: usize = 1500;

/// Turns texts into vectors of unit length.
pub struct Embedder {
    model: StaticModel,
    mean: Vec<f32>,
    coverage: Option<Coverage>,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("the embedding model inside the program cannot be read: {0}")]
    Shipped(String),
    #[error("the embedding model in {path} cannot be read: {what}")]
    Folder { path: PathBuf, what: String },
}

impl Embedder {
    /// The model that is part of the program. English; 256 dimensions; about 2 µs a text.
    pub fn shipped() -> Result<Self, EmbedError> {
        let model = StaticModel::from_bytes(TOKENIZER, TABLE, SETTINGS, Some(true))
            .map_err(|error| EmbedError::Shipped(error.to_string()))?;
        let mean = serde_json::from_str(MEAN).map_err(|error| EmbedError::Shipped(error.to_string()))?;
        Ok(Self { model, mean, coverage: Coverage::read(TOKENIZER) })
    }

    /// Another Model2Vec model, from its folder. It covers whatever it was made for.
    pub fn from_folder(path: &Path) -> Result<Self, EmbedError> {
        let model = StaticModel::from_pretrained(path, None, Some(true), None)
            .map_err(|error| EmbedError::Folder { path: path.to_owned(), what: error.to_string() })?;
        Ok(Self { model, mean: Vec::new(), coverage: None })
    }

    /// The vector of `text`; empty where the model does not know enough of it.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let text = text.char_indices().nth(WITHIN).map_or(text, |(end, _)| &text[..end]);
        if text.trim().is_empty() || self.coverage.as_ref().is_some_and(|coverage| !coverage.covers(text)) {
            return Vec::new();
        }
        let mut vector = self.model.encode_single(text);
        normalise(&mut vector);
        for (value, mean) in vector.iter_mut().zip(&self.mean) {
            *value -= mean;
        }
        normalise(&mut vector);
        if vector.iter().all(|value| value.is_finite() && *value == 0.0)
            || vector.iter().any(|value| !value.is_finite())
        {
            return Vec::new();
        }
        vector
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
