//! What remembers, built from the configuration.

use std::sync::Arc;

use crate::answer::run::Enricher;
use crate::app::{AppError, Parts, vectors as servers};
use crate::config::{Config, EmbeddingConfig, MemoryConfig};
use crate::embed::{Embedder, SHIPPED_NAME};
use crate::gateway::run::Gateway;
use crate::llm::Embeddings;
use crate::memory::run::{Memory, SummaryModel, SummaryVectors, pieces};
use crate::scheduler::run::Wake;

/// Who makes and keeps what is remembered.
pub(super) fn build(parts: &Parts, wake: &Wake, gateway: &Gateway) -> Result<Memory, AppError> {
    let memory = &parts.config.memory;
    let model =
        SummaryModel { gateway: gateway.clone(), caps: parts.config.limits.daily_tokens, redaction: memory.redaction };
    Ok(Memory {
        store: parts.store.clone(),
        clock: parts.clock.clone(),
        wake: wake.clone(),
        prompts: Arc::clone(&parts.prompts),
        config: memory.clone(),
        model,
        vectors: vectors(&parts.config, parts.embedder.as_ref())?,
        announces: parts.config.privacy.announces,
    })
}

/// What memory adds to the prompt of an answer.
pub fn enrichers(config: &MemoryConfig) -> Vec<Enricher> {
    let recent_and_history = || Enricher::new("memory", |conn, subject| pieces(conn, subject.chat));
    config.is_on.then(recent_and_history).into_iter().collect()
}

/// What makes vectors of summaries.
fn vectors(config: &Config, embedder: Option<&Arc<Embedder>>) -> Result<SummaryVectors, AppError> {
    let name = match &config.embedding {
        EmbeddingConfig::Off => return Ok(SummaryVectors::Off),
        EmbeddingConfig::OpenAi(_) => {
            let Some(options) = servers::options(config) else { return Ok(SummaryVectors::Off) };
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
