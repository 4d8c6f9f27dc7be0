//! Builds the memory components from the configuration.

use std::sync::Arc;

use crate::app::components::AppComponents;
use crate::app::error::AppError;
use crate::app::vectors as servers;
use chime_answer::answering::{Enricher, LongThreads};
use chime_core::config::{Config, EmbeddingConfig, MemoryConfig};
use chime_core::embed::Embedder;
use chime_jobs::Base;
use chime_memory::jobs::{Memory, SummaryModel, item_pieces, pieces, thread_summary, topic_pieces};
use chime_memory::recall::VectorSource;
use chime_relevance::context::{MAX_THREAD_TOKENS, ThreadLimits};

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

/// Returns the functions that fill the prompt's sections about the chat's memory.
pub fn enrichers(config: &MemoryConfig) -> Vec<Enricher> {
    if !config.is_on {
        return Vec::new();
    }
    let recent_and_history = Enricher::new("memory", |conn, input| pieces(conn, input.chat, input.zone));
    let rules = config.clone();
    let topic = Enricher::new("topic", move |conn, input| {
        topic_pieces(conn, input.conversation, &rules, input.zone, input.now)
    });
    let items = Enricher::new("items", |conn, input| item_pieces(conn, input.chat, &input.ask, input.zone, input.now));
    vec![recent_and_history, topic, items]
}

/// Returns the source of the summaries that replace the oldest part of a long thread, or `None` if memory is off.
pub fn long_threads(config: &MemoryConfig) -> Option<LongThreads> {
    let limits = ThreadLimits { messages: config.max_history, tokens: MAX_THREAD_TOKENS };
    config.is_on.then(|| LongThreads::new(limits, thread_summary))
}

/// Returns the source of vectors for messages and summaries.
pub fn sources(config: &Config, embedder: Option<&Arc<Embedder>>) -> Result<VectorSource, AppError> {
    if let EmbeddingConfig::OpenAi(_) = &config.embedding {
        return Ok(servers::server(config)?.map_or(VectorSource::Off, VectorSource::Server));
    }
    Ok(embedder.map_or(VectorSource::Off, |embedder| VectorSource::Local(Arc::clone(embedder))))
}
