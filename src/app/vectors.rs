//! Builds the client of the embedding server and the task that fetches vectors, if the operator has configured a
//! server.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::app::error::AppError;
use crate::app::tasks::Tasks;
use chime_core::Conversation;
use chime_core::config::{Config, Redaction};
use chime_llm::{Embeddings, LlmOptions, Prepare};
use chime_memory::context::Vectors;
use chime_privacy::redact;
use chime_runtime::clock::Clock;
use chime_store::Store;

/// Maximum number of conversations that wait for vectors. One that finds the queue full is added by its next message.
const QUEUE: usize = 256;

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

/// Starts the task that fetches vectors. Returns the sender for conversations that have new messages.
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
