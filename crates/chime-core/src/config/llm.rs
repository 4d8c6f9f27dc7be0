//! Configuration of the model server and its models.

use std::time::Duration;

use secrecy::SecretString;

use crate::config::keys;
use crate::config::settings::{Noted, Settings};

#[derive(Debug, Clone)]
pub struct LlmConfig {
    /// `OPENAI_API_KEY`; not needed for local servers.
    pub api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`, default `https://api.openai.com/v1`; without a trailing slash.
    pub base_url: String,
    /// `MODEL`. `None` only if neither a key nor a base URL is set: then the bot answers without a model.
    pub model: Option<String>,
    /// `MODEL_FALLBACK`: second model of the same server, for failures and nearly used-up budgets.
    pub model_fallback: Option<String>,
    /// `MODEL_SUMMARY`, default `MODEL`.
    pub model_summary: Option<String>,
    /// `MODEL_EXTRACT`, default `MODEL`.
    pub model_extract: Option<String>,
    /// `MODEL_TRANSCRIBE`. `None` disables transcription.
    pub model_transcribe: Option<String>,
    /// `MODEL_TIMEOUT`, default 60s: longest pause of the server in the middle of an answer.
    pub timeout: Duration,
    /// `ANSWER_DEADLINE`, default 90s: a failed call is not retried later than this after its start.
    pub deadline: Duration,
    /// `TOOL_ROUNDS`, default 3: number of times that the model may look something up in the chat before it answers.
    pub tool_rounds: usize,
    /// `true` if concepts are extracted from answers in the background. Always `true` except in tests with a scripted
    /// model.
    pub captures_concepts: bool,
}

impl LlmConfig {
    pub fn load(settings: &Settings<'_>) -> Result<Self, Noted> {
        const NAME: &str = "the name of a model, as its server knows it";
        let range = Duration::from_millis(100)..=Duration::from_secs(3600);
        let has_server =
            [&keys::OPENAI_API_KEY, &keys::OPENAI_BASE_URL].into_iter().any(|key| settings.raw(key).is_some());
        let api_key = settings.secret(&keys::OPENAI_API_KEY, "the key that the model server gave you, without spaces");
        let base_url = settings.server_url(&keys::OPENAI_BASE_URL);
        let model = if has_server {
            settings.required(&keys::MODEL, NAME, |raw| Some(raw.to_owned())).map(Some)
        } else {
            if settings.raw(&keys::MODEL).is_some() {
                settings.warn(
                    &keys::MODEL,
                    "has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; answers are offline digests",
                );
            }
            Ok(None)
        };
        let model_fallback = settings.text(&keys::MODEL_FALLBACK, NAME);
        let model_summary = settings.text(&keys::MODEL_SUMMARY, NAME);
        let model_extract = settings.text(&keys::MODEL_EXTRACT, NAME);
        let model_transcribe = settings.text(&keys::MODEL_TRANSCRIBE, NAME);
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
        let timeout = settings.duration(&keys::MODEL_TIMEOUT, range.clone());
        let deadline = settings.duration(&keys::ANSWER_DEADLINE, range);
        let tool_rounds = settings.count(&keys::TOOL_ROUNDS, 0..=10);
        Ok(Self {
            api_key: api_key?,
            base_url: base_url?,
            model: model?,
            model_fallback: model_fallback?,
            model_summary: model_summary?,
            model_extract: model_extract?,
            model_transcribe: model_transcribe?,
            timeout: timeout?,
            deadline: deadline?,
            tool_rounds: tool_rounds?,
            captures_concepts: true,
        })
    }

    /// Returns the host that receives the prompts, or `None` if no model is configured.
    pub fn host(&self) -> Option<String> {
        self.model.as_ref()?;
        url::Url::parse(&self.base_url).ok()?.host_str().map(str::to_owned)
    }

    /// Returns `true` if voice messages and video notes are transcribed.
    pub fn transcribes(&self) -> bool {
        !self.is_offline() && self.model_transcribe.is_some()
    }

    pub fn is_offline(&self) -> bool {
        self.model.is_none()
    }
}
