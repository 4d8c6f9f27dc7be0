//! Configuration of the model server and its models.

use std::time::Duration;

use secrecy::SecretString;

use crate::config::keys::{self, Key};
use crate::config::limits::{Prices, price};
use crate::config::settings::{Settings, server_url};

#[derive(Debug, Clone)]
pub struct LlmConfig {
    pub api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`, default `https://api.openai.com/v1`; without a trailing slash.
    pub base_url: String,
    /// `MODEL`. `None` only if neither a key nor a base URL is set: then the bot answers without a model.
    pub model: Option<String>,
    pub models: Vec<ListedModel>,
    pub model_fallback: Option<ModelConfig>,
    pub model_summary: Option<ModelConfig>,
    pub model_extract: Option<String>,
    pub model_transcribe: Option<ModelConfig>,
    pub timeout: Duration,
    pub deadline: Duration,
    pub tool_rounds: usize,
    /// `true` if concepts are extracted from answers in the background. Always `true` except in tests with a scripted
    /// model.
    pub captures_concepts: bool,
}

/// Model for one task, perhaps on a server of its own.
#[derive(Debug, Clone)]
pub struct ModelConfig {
    pub name: String,
    /// `None` for the server at `OPENAI_BASE_URL`.
    pub server: Option<ModelServerConfig>,
}

#[derive(Debug, Clone)]
pub struct ModelServerConfig {
    /// Without a trailing slash.
    pub base_url: String,
    /// The other servers' keys are never sent to this one.
    pub api_key: Option<SecretString>,
}

impl ModelConfig {
    /// Returns a model of the server at `OPENAI_BASE_URL`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), server: None }
    }

    /// Parses `NAME` or `NAME@https://…/v1`. `None` if the name or the address is invalid.
    pub(super) fn parse(raw: &str) -> Option<Self> {
        let at = ["@http://", "@https://"].into_iter().filter_map(|scheme| raw.find(scheme)).min();
        let (name, url) = at.map_or((raw, None), |at| (&raw[..at], Some(&raw[at + 1..])));
        // A server address of another scheme is not part of a model name.
        if name.contains("://") {
            return None;
        }
        let base_url = url.map_or(Some(None), |url| server_url(url).map(Some))?;
        let is_name = !name.is_empty() && !name.contains(char::is_control);
        let server = base_url.map(|base_url| ModelServerConfig { base_url, api_key: None });
        is_name.then(|| Self { name: name.to_owned(), server })
    }

    /// Adds the key of the model's own server.
    pub(super) fn with_key(mut model: Option<Self>, settings: &Settings<'_>, key: &Key) -> Option<Self> {
        let api_key = settings.secret(key, "the key that the server gave you, without spaces");
        match model.as_mut().and_then(|model| model.server.as_mut()) {
            Some(server) => server.api_key = api_key,
            None if api_key.is_some() => settings.warn(key, "has no effect: the model names no server of its own"),
            None => {}
        }
        model
    }

    fn load(settings: &Settings<'_>, model: &Key, key: &Key) -> Option<Self> {
        const ALLOWED: &str =
            "the name of a model, or a name and the address of its server: NAME@https://example.org/v1";
        Self::with_key(settings.optional(model, ALLOWED, Self::parse), settings, key)
    }
}

/// Returns the host of a web address.
pub fn host_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    pub name: String,
    pub prices: Option<Prices>,
}

/// Parses `gpt-4.1 2.00/8.00, gpt-4.1-nano`.
fn listed_models(raw: &str) -> Option<Vec<ListedModel>> {
    const MOST: usize = 12;
    let parse = |entry: &str| {
        let mut words = entry.split_whitespace();
        let name = words.next()?.to_owned();
        let prices = match words.next() {
            Some(prices) => {
                let (prompt, completion) = prices.split_once('/')?;
                Some(Prices { prompt: price(prompt)?, completion: price(completion)? })
            }
            None => None,
        };
        words.next().is_none().then_some(ListedModel { name, prices })
    };
    let models: Vec<ListedModel> = raw.split(',').map(parse).collect::<Option<_>>()?;
    (models.len() <= MOST).then_some(models)
}

impl LlmConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        const NAME: &str = "the name of a model, as its server knows it";
        let range = Duration::from_millis(100)..=Duration::from_hours(1);
        let has_server =
            [&keys::OPENAI_API_KEY, &keys::OPENAI_BASE_URL].into_iter().any(|key| settings.raw(key).is_some());
        if !has_server && settings.raw(&keys::MODEL).is_some() {
            settings.warn(
                &keys::MODEL,
                "has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; answers are offline digests",
            );
        }
        let allowed = "up to 12 names of models, separated by commas, each with the prices of a million tokens read and \
                       written where they are known: gpt-4.1 2.00/8.00, gpt-4.1-nano 0.10/0.40";
        if !has_server && settings.raw(&keys::MODEL_TRANSCRIBE).is_some() {
            settings.warn(
                &keys::MODEL_TRANSCRIBE,
                "has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; nothing is transcribed",
            );
        }
        let redacts_all = settings.raw(&keys::REDACT).is_some_and(|raw| raw.eq_ignore_ascii_case("all"));
        if has_server && redacts_all && settings.raw(&keys::MODEL_TRANSCRIBE).is_some() {
            settings.warn(
                &keys::MODEL_TRANSCRIBE,
                "sends recordings as they are, although REDACT=all: nothing can be taken out of one",
            );
        }
        Self {
            api_key: settings.secret(&keys::OPENAI_API_KEY, "the key that the model server gave you, without spaces"),
            base_url: settings.server_url(&keys::OPENAI_BASE_URL),
            model: has_server.then(|| settings.required(&keys::MODEL, NAME, |raw| Some(raw.to_owned()))),
            models: settings.optional(&keys::MODELS, allowed, listed_models).unwrap_or_default(),
            model_fallback: ModelConfig::load(settings, &keys::MODEL_FALLBACK, &keys::MODEL_FALLBACK_KEY),
            model_summary: ModelConfig::load(settings, &keys::MODEL_SUMMARY, &keys::MODEL_SUMMARY_KEY),
            model_extract: settings.text(&keys::MODEL_EXTRACT, NAME),
            model_transcribe: ModelConfig::load(settings, &keys::MODEL_TRANSCRIBE, &keys::MODEL_TRANSCRIBE_KEY),
            timeout: settings.duration(&keys::MODEL_TIMEOUT, range.clone()),
            deadline: settings.duration(&keys::ANSWER_DEADLINE, range),
            tool_rounds: settings.count(&keys::TOOL_ROUNDS, 0..=10),
            captures_concepts: true,
        }
    }

    /// Returns the host that receives the prompts, or `None` if no model is configured.
    pub fn host(&self) -> Option<String> {
        self.model.as_ref()?;
        host_of(&self.base_url)
    }

    /// Returns the hosts to which texts or recordings of members may go, the one that answers first. `embedding` is the
    /// embedding model, if it runs on a server.
    pub fn hosts(&self, embedding: Option<&ModelConfig>) -> Vec<String> {
        let Some(answering) = self.host() else { return Vec::new() };
        let others = [&self.model_fallback, &self.model_summary, &self.model_transcribe];
        let others =
            others.into_iter().flatten().chain(embedding).filter_map(|model| host_of(&model.server.as_ref()?.base_url));
        let mut hosts = vec![answering];
        for other in others {
            if !hosts.contains(&other) {
                hosts.push(other);
            }
        }
        hosts
    }

    /// Returns `true` if voice messages and video notes are transcribed.
    pub fn transcribes(&self) -> bool {
        !self.is_offline() && self.model_transcribe.is_some()
    }

    pub fn is_offline(&self) -> bool {
        self.model.is_none()
    }
}
