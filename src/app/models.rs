//! The models that the operator named, behind the gateway.

use std::time::Duration;

use crate::app::AppError;
use crate::clock::Clock;
use crate::config::{Config, LlmConfig};
use crate::gateway::run::{Gateway, GatewayParts, Hearing, Models};
use crate::gateway::{Budget, ModelGuard};
use crate::llm::{Llm, LlmOptions, Transcriptions};
use crate::store::Store;

/// For all calls of one summary or extraction, with the waiting between them. Nobody waits for it.
const BACKGROUND_DEADLINE: Duration = Duration::from_secs(180);

pub fn gateway(config: &Config, store: &Store, clock: &Clock) -> Result<Gateway, AppError> {
    let llm = &config.llm;
    let models = Models {
        answer: model(config, llm.model.as_ref(), llm.deadline)?,
        summary: model(config, llm.model_summary.as_ref(), BACKGROUND_DEADLINE)?,
        extract: model(config, llm.model_extract.as_ref(), BACKGROUND_DEADLINE)?,
    };
    let budget = budget(config);
    let (store, clock, guard) = (store.clone(), clock.clone(), ModelGuard::default());
    Ok(Gateway::new(GatewayParts { store, clock, models, guard, budget }))
}

/// The model that writes down what is spoken, where the operator named one.
pub fn hearing(config: &Config, store: &Store, clock: &Clock) -> Result<Option<Hearing>, AppError> {
    let (Some(model), false) = (&config.llm.model_transcribe, config.llm.is_offline()) else { return Ok(None) };
    let options = LlmOptions { fallback: None, ..options(&config.llm, model, BACKGROUND_DEADLINE) };
    let model = Transcriptions::new(&options).map_err(|error| AppError::Http(error.to_string()))?;
    Ok(Some(Hearing::new(store.clone(), clock.clone(), model, budget(config))))
}

fn budget(config: &Config) -> Budget {
    Budget { caps: config.limits.daily_tokens, prices: config.limits.prices }
}

/// The model of that name, or the one that answers. None is configured where that one is not.
fn model(config: &Config, name: Option<&String>, deadline: Duration) -> Result<Llm, AppError> {
    let config = &config.llm;
    let Some(answering) = &config.model else { return Ok(Llm::Offline) };
    let options = options(config, name.unwrap_or(answering), deadline);
    Llm::new(options).map_err(|error| AppError::Http(error.to_string()))
}

fn options(config: &LlmConfig, model: &str, deadline: Duration) -> LlmOptions {
    LlmOptions {
        api_key: config.api_key.clone(),
        base_url: config.base_url.clone(),
        model: model.to_owned(),
        fallback: config.model_fallback.clone(),
        timeout: config.timeout,
        deadline,
    }
}
