//! Builds the memory components from the configuration.

use std::sync::Arc;

use crate::app::components::AppComponents;
use crate::app::error::AppError;
use crate::app::vectors as servers;
use chime_core::config::{Config, EmbeddingConfig};
use chime_core::embed::Embedder;
use chime_jobs::Base;
use chime_memory::jobs::{Memory, SummaryModel};
use chime_memory::recall::VectorSource;

pub(super) fn build(parts: &AppComponents) -> Result<Memory, AppError> {
    let Base { store, clock, wake, config, .. } = parts.base.clone();
    let (caps, redaction) = (config.limits.daily_tokens, config.memory.redaction);
    Ok(Memory {
        store,
        clock,
        wake,
        prompts: Arc::clone(&parts.prompts),
        config: config.memory.clone(),
        zone: config.time.zone,
        model: SummaryModel { gateway: parts.gateway.clone(), caps, redaction },
        vectors: sources(&config, parts.embedder.as_ref())?,
        announces: config.privacy.announces,
    })
}

/// Returns the source of vectors for messages and summaries.
pub fn sources(config: &Config, embedder: Option<&Arc<Embedder>>) -> Result<VectorSource, AppError> {
    if let EmbeddingConfig::OpenAi(_) = &config.embedding {
        return Ok(servers::server(config)?.map_or(VectorSource::Off, VectorSource::Server));
    }
    Ok(embedder.map_or(VectorSource::Off, |embedder| VectorSource::Local(Arc::clone(embedder))))
}
