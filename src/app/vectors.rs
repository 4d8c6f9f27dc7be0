//! Builds the client of the embedding server, if the operator has configured one.

use std::sync::Arc;

use crate::app::error::AppError;
use chime_core::config::{Config, Redaction};
use chime_llm::{Embeddings, LlmOptions, Prepare};
use chime_privacy::redact;

/// Returns the options of the client, or `None` if no server makes vectors.
pub fn options(config: &Config) -> Option<LlmOptions> {
    let model = config.embedding.server_model()?;
    let llm = &config.llm;
    // Without a model server of the operator's choice, no text may leave the machine.
    (!llm.is_offline()).then(|| LlmOptions::placed(llm, model))
}

/// Builds the client of the embedding server, or returns `None` if none is configured. Texts are redacted before they
/// are sent, if that is configured.
pub fn server(config: &Config) -> Result<Option<Arc<Embeddings>>, AppError> {
    let Some(options) = options(config) else { return Ok(None) };
    let prepare: Prepare = match config.memory.redaction {
        Redaction::Off => str::to_owned,
        Redaction::Summaries | Redaction::All => redact,
    };
    let embeddings = Embeddings::new(&options, prepare).map_err(|error| AppError::Http(error.to_string()))?;
    Ok(Some(Arc::new(embeddings)))
}
