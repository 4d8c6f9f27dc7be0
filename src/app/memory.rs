//! What remembers, built from the configuration.

use std::sync::Arc;

use crate::app::{AppError, vectors};
use crate::config::{Config, EmbeddingConfig};
use crate::embed::{Embedder, SHIPPED_NAME};
use crate::llm::Embeddings;
use crate::memory::run::SummaryVectors;

/// What makes vectors of summaries.
pub fn vectors(config: &Config, embedder: Option<&Arc<Embedder>>) -> Result<SummaryVectors, AppError> {
    let name = match &config.embedding {
        EmbeddingConfig::Off => return Ok(SummaryVectors::Off),
        EmbeddingConfig::OpenAi(_) => {
            let Some(options) = vectors::options(config) else { return Ok(SummaryVectors::Off) };
            let embeddings = Embeddings::new(&options).map_err(|error| AppError::Http(error.to_string()))?;
            return Ok(SummaryVectors::Server(Arc::new(embeddings)));
        }
        EmbeddingConfig::Local => SHIPPED_NAME.to_owned(),
        EmbeddingConfig::Model2Vec(folder) => {
            folder.file_name().map_or_else(|| "model2vec".to_owned(), |name| name.to_string_lossy().into_owned())
        }
    };
    Ok(match embedder {
        Some(embedder) => SummaryVectors::Local { embedder: Arc::clone(embedder), name },
        None => SummaryVectors::Off,
    })
}
