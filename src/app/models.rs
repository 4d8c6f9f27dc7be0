//! Builds the clients for the configured models.

use std::time::Duration;

use crate::app::error::AppError;
use chime_access::gateway::ask::{Gateway, GatewayParts, Models, Transcriber};
use chime_access::gateway::{DailyBudget, ModelGuard};
use chime_core::config::Config;
use chime_llm::{Llm, LlmOptions, Transcriptions};
use chime_runtime::clock::Clock;
use chime_store::Store;

/// Longest time for one summary or extraction, including retries. No member waits for it.
const BACKGROUND_DEADLINE: Duration = Duration::from_secs(180);

pub fn gateway(config: &Config, store: &Store, clock: &Clock) -> Result<Gateway, AppError> {
    let llm = &config.llm;
    let answer = model(config, llm.model.as_ref(), llm.deadline)?;
    // Shared client: facts learned about a model for one purpose are known for the others too.
    let other = |name: Option<&String>| match name.filter(|name| Some(*name) != llm.model.as_ref()) {
        Some(name) => model(config, Some(name), BACKGROUND_DEADLINE),
        None => Ok(answer.clone()),
    };
    let (summary, extract) = (other(llm.model_summary.as_ref())?, other(llm.model_extract.as_ref())?);
    let models = Models { answer, summary, extract };
    let budget = budget(config);
    let (store, clock, guard) = (store.clone(), clock.clone(), ModelGuard::default());
    Ok(Gateway::new(GatewayParts { store, clock, models, guard, budget }))
}

/// Builds the transcription client, if the operator named a model for it.
pub fn transcriber(config: &Config, store: &Store, clock: &Clock) -> Result<Option<Transcriber>, AppError> {
    let (Some(model), false) = (&config.llm.model_transcribe, config.llm.is_offline()) else { return Ok(None) };
    let options = LlmOptions { deadline: BACKGROUND_DEADLINE, ..LlmOptions::of(&config.llm, model) };
    let model = Transcriptions::new(&options).map_err(|error| AppError::Http(error.to_string()))?;
    Ok(Some(Transcriber::new(store.clone(), clock.clone(), model, budget(config))))
}

fn budget(config: &Config) -> DailyBudget {
    DailyBudget { caps: config.limits.daily_tokens, prices: config.limits.prices }
}

/// Builds a client for the named model, or for the answering one if there is no name. Without an answering model it is
/// offline.
fn model(config: &Config, name: Option<&String>, deadline: Duration) -> Result<Llm, AppError> {
    let config = &config.llm;
    let Some(answering) = &config.model else { return Ok(Llm::Offline) };
    let options = LlmOptions {
        fallback: config.model_fallback.clone(),
        deadline,
        ..LlmOptions::of(config, name.unwrap_or(answering))
    };
    Llm::new(options).map_err(|error| AppError::Http(error.to_string()))
}
