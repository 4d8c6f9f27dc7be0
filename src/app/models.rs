//! Builds the clients of the configured models.

use std::time::Duration;

use crate::app::error::AppError;
use chime_access::gateway::ask::{Gateway, GatewayParts, Models, Transcriber};
use chime_access::gateway::{DailyBudget, ModelGuard};
use chime_answer::documents::DocumentReader;
use chime_core::config::{Config, ModelConfig, WebSearchConfig, host_of};
use chime_links::{AddressPolicy, WebSearch};
use chime_llm::{Llm, LlmOptions, Transcriptions};
use chime_runtime::clock::Clock;
use chime_store::Store;

/// Maximum time for a summary or extraction, including retries. No member waits for it.
const BACKGROUND_DEADLINE: Duration = Duration::from_secs(180);

pub fn gateway(config: &Config, store: &Store, clock: &Clock) -> Result<Gateway, AppError> {
    let llm = &config.llm;
    let own = |name: &String| ModelConfig::named(name.clone());
    let answering = llm.model.as_ref().map(own);
    let answer = model(config, answering.as_ref(), llm.deadline)?;
    // The same model shares one client, so that what the client learns about the model is used for all purposes.
    let other = |other: Option<&ModelConfig>, deadline| match other
        .filter(|other| other.server.is_some() || Some(&other.name) != llm.model.as_ref())
    {
        Some(other) => model(config, Some(other), deadline),
        None => Ok(answer.clone()),
    };
    let summary = other(llm.model_summary.as_ref(), BACKGROUND_DEADLINE)?;
    let extract = other(llm.model_extract.as_ref().map(own).as_ref(), BACKGROUND_DEADLINE)?;
    let listed = llm.models.iter().map(|listed| other(Some(&own(&listed.name)), llm.deadline));
    let listed = listed.collect::<Result<_, _>>()?;
    let models = Models { answer, summary, extract, listed };
    let budget = budget(config);
    let (store, clock, guard) = (store.clone(), clock.clone(), ModelGuard::default());
    Ok(Gateway::new(GatewayParts { store, clock, models, guard, budget }))
}

/// Builds the client for transcription. Returns `None` if the operator has not configured a model for it.
pub fn transcriber(config: &Config, store: &Store, clock: &Clock) -> Result<Option<Transcriber>, AppError> {
    let (Some(model), false) = (&config.llm.model_transcribe, config.llm.is_offline()) else { return Ok(None) };
    let options = LlmOptions { deadline: BACKGROUND_DEADLINE, ..LlmOptions::placed(&config.llm, model) };
    let model = Transcriptions::new(&options).map_err(|error| AppError::Http(error.to_string()))?;
    Ok(Some(Transcriber::new(store.clone(), clock.clone(), model, budget(config))))
}

fn budget(config: &Config) -> DailyBudget {
    DailyBudget { caps: config.limits.daily_tokens, prices: config.limits.prices, listed: config.llm.models.clone() }
}

/// Builds a client for a model. If no model answers, returns [`Llm::Offline`].
fn model(config: &Config, model: Option<&ModelConfig>, deadline: Duration) -> Result<Llm, AppError> {
    let config = &config.llm;
    let Some(model) = model.filter(|_| !config.is_offline()) else { return Ok(Llm::Offline) };
    let options = LlmOptions { fallback: config.model_fallback.clone(), deadline, ..LlmOptions::placed(config, model) };
    Llm::new(options).map_err(|error| AppError::Http(error.to_string()))
}

/// Builds the client of the search service; `None` if the operator has chosen none.
pub fn web_search(config: &Config) -> Result<Option<WebSearch>, AppError> {
    let search = config.answer.web.clone().map(WebSearch::new);
    search.transpose().map_err(|error| AppError::Http(error.to_string()))
}

/// Returns the reader of documents, which starts this program once more for each.
pub fn document_reader(config: &Config, clock: &Clock) -> Result<DocumentReader, AppError> {
    let program = config.answer.test_program.clone().map_or_else(std::env::current_exe, Ok);
    let program =
        program.map_err(|error| AppError::Task(format!("the program does not find its own file: {error}")))?;
    Ok(DocumentReader::new(program, clock.clone()))
}

/// Returns the rule on which servers pages are fetched from: public ones, without the operator's own.
pub fn address_policy(config: &Config) -> AddressPolicy {
    let hosts = [&config.llm.base_url, &config.telegram.api_url].into_iter().filter_map(|url| host_of(url));
    let search = config.answer.web.as_ref().and_then(WebSearchConfig::host);
    AddressPolicy::new(hosts.chain(config.llm.hosts(config.embedding.server_model())).chain(search))
        .with_test_names(config.answer.test_servers.clone())
}
