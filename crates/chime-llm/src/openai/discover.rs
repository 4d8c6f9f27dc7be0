//! Queries a server for facts about itself and its models.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::OpenAi;
use crate::facts::{ServerFacts, listed, size};
use crate::transport::Server;
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;

const PATIENCE: Duration = Duration::from_secs(5);

impl OpenAi {
    /// Finds the context size, slots and parameter count of the models on the primary model's server. Returns `true` if
    /// it answered at all.
    pub async fn discover(&self, clock: &Clock) -> bool {
        self.discover_on(&self.primary.server, clock).await
    }

    /// Does the same for the fallback, if it has a server of its own.
    pub async fn discover_fallback(&self, clock: &Clock) {
        let server = &self.primary.server;
        if let Some(fallback) = self.fallback.as_ref().filter(|model| !Arc::ptr_eq(&model.server, server)) {
            self.discover_on(&fallback.server, clock).await;
        }
    }

    async fn discover_on(&self, server: &Arc<Server>, clock: &Clock) -> bool {
        let models = fetch(server, clock, "/models").await;
        let listed = models.as_ref().and_then(listed);
        let is_of = |owner: &str| listed.is_some_and(|listed| listed.iter().any(|entry| entry["owned_by"] == owner));
        // Only llama.cpp has `/props`. A server of a provider is not asked for it.
        let is_llama = is_of("llamacpp") || server.is_own() && !is_of("library");
        let props = if is_llama { fetch(server, clock, "/props").await } else { None };
        // Ollama names the publishers of its models as owners, and those may be anybody. Its ids have a tag, as in
        // `llama3.2:latest`.
        let has_tag = |entry: &Value| entry["id"].as_str().is_some_and(|id| id.contains(':'));
        let has_tags = listed.is_some_and(|listed| listed.iter().any(has_tag));
        let is_ollama = is_of("library") || server.is_own() && has_tags && props.is_none();
        let loaded = if is_ollama { fetch(server, clock, "/api/ps").await } else { None };
        let is_other = server.is_own() && !is_ollama && props.is_none();
        for model in self.models().filter(|model| Arc::ptr_eq(&model.server, server)) {
            let show = if is_ollama { ollama_shows(server, &model.name, clock).await } else { None };
            let other = if is_other { context_of_other(server, &model.name, clock).await } else { None };
            let facts = [
                props.as_ref().map(ServerFacts::of_props),
                loaded.as_ref().map(|body| ServerFacts::of_loaded(body, &model.name)),
                show.as_ref().map(ServerFacts::of_show),
                other.map(|context| ServerFacts { context: Some(context), ..ServerFacts::default() }),
                models.as_ref().map(|body| ServerFacts::of_models(body, &model.name)),
            ];
            let facts = facts.into_iter().flatten().fold(ServerFacts::default(), ServerFacts::or);
            tracing::debug!(
                model.name = model.name,
                context = facts.context,
                slots = facts.slots,
                parameters = facts.parameters,
                "what the model server tells of itself",
            );
            model.note_facts(facts);
        }
        models.is_some() || props.is_some()
    }
}

async fn fetch(server: &Server, clock: &Clock, path: &str) -> Option<Value> {
    let asking = async {
        match path {
            "/models" => server.models().await,
            path => server.look_up(path, None).await,
        }
    };
    within(clock, PATIENCE, asking).await?.inspect_err(|error| tracing::debug!(path, %error, "not told")).ok()
}

async fn ollama_shows(server: &Server, model: &str, clock: &Clock) -> Option<Value> {
    let body = json!({"model": model});
    within(clock, PATIENCE, server.look_up("/api/show", Some(&body))).await?.ok()
}

/// Returns the context size that LM Studio, KoboldCpp, TGI and TabbyAPI tell at paths of their own.
async fn context_of_other(server: &Server, model: &str, clock: &Clock) -> Option<usize> {
    let paths = [
        ("/api/extra/true_max_context_length", "/value"),
        ("/info", "/max_total_tokens"),
        ("/v1/model", "/parameters/max_seq_len"),
    ];
    let studio = fetch(server, clock, "/api/v0/models").await;
    if let Some(context) = studio.and_then(|told| ServerFacts::of_studio(&told, model).context) {
        return Some(context);
    }
    for (path, place) in paths {
        let told = fetch(server, clock, path).await;
        if let Some(context) = told.and_then(|told| size(told.pointer(place))) {
            return Some(context);
        }
    }
    None
}
