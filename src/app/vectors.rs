//! Client for the server that makes embedding vectors, if the operator named one of its models.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::app::error::AppError;
use crate::app::tasks::Tasks;
use chime_core::Conversation;
use chime_core::config::{Config, EmbeddingConfig, Redaction};
use chime_llm::{Embeddings, LlmOptions, Prepare};
use chime_memory::context::Vectors;
use chime_privacy::redact;
use chime_runtime::clock::Clock;
use chime_store::Store;

/// Capacity of the queue of conversations. The next message of one that did not fit tries again.
const QUEUE: usize = 256;

/// Returns the client options; `None` if no server makes vectors.
pub fn options(config: &Config) -> Option<LlmOptions> {
    let EmbeddingConfig::OpenAi(model) = &config.embedding else { return None };
    let llm = &config.llm;
    // Without a server of the operator's choice no text leaves the machine.
    (!llm.is_offline()).then(|| LlmOptions::of(llm, model))
}

/// Builds the client; `None` if no server makes vectors. Texts are redacted before they are sent.
pub fn server(config: &Config) -> Result<Option<Arc<Embeddings>>, AppError> {
    let Some(options) = options(config) else { return Ok(None) };
    let prepare: Prepare = match config.memory.redaction {
        Redaction::Off => str::to_owned,
        Redaction::Summaries | Redaction::All => redact,
    };
    let embeddings = Embeddings::new(&options, prepare).map_err(|error| AppError::Http(error.to_string()))?;
    Ok(Some(Arc::new(embeddings)))
}

/// Spawns the task that fetches vectors. Returns a channel for conversations with new messages.
pub fn spawn(
    config: &Config,
    store: &Store,
    clock: &Clock,
    tasks: &mut Tasks,
) -> Result<Option<mpsc::Sender<Conversation>>, AppError> {
    let Some(embeddings) = server(config)? else { return Ok(None) };
    let (sender, news) = mpsc::channel(QUEUE);
    let vectors = Vectors { store: store.clone(), clock: clock.clone(), embeddings, news };
    tasks.spawn("vectors", |stop| async move {
        vectors.run(stop).await;
        Ok(())
    });
    Ok(Some(sender))
}
