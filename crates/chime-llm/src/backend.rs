//! Which model answers.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::{LlmError, OpenAi};
use chime_core::config::LlmConfig;

/// The model that answers. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub enum Llm {
    /// A server that speaks OpenAI's chat completions.
    OpenAi(Arc<OpenAi>),
    /// No model is configured. There is nothing to call: who answers makes do with a digest.
    Offline,
}

/// How to reach a model.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// `OPENAI_API_KEY`. Servers on one's own machine need none.
    pub api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`, up to and with its `/v1`. A trailing slash does no harm.
    pub base_url: String,
    /// `MODEL`.
    pub model: String,
    /// `MODEL_FALLBACK`, on the same server: asked once when `model` fails.
    pub fallback: Option<String>,
    /// `MODEL_TIMEOUT`: the longest silence within an answer.
    pub timeout: Duration,
    /// `ANSWER_DEADLINE`: no retry begins after it.
    pub deadline: Duration,
}

impl LlmOptions {
    /// How to reach `model` at the operator's server, with no other behind it.
    pub fn of(config: &LlmConfig, model: &str) -> Self {
        Self {
            api_key: config.api_key.clone(),
            base_url: config.base_url.clone(),
            model: model.to_owned(),
            fallback: None,
            timeout: config.timeout,
            deadline: config.deadline,
        }
    }
}

impl Llm {
    /// Opens no connection yet.
    ///
    /// # Errors
    /// [`LlmError::NotConfigured`] when no call could ever succeed with these options.
    pub fn new(options: LlmOptions) -> Result<Self, LlmError> {
        Ok(Self::OpenAi(Arc::new(OpenAi::new(options)?)))
    }

    pub fn is_offline(&self) -> bool {
        matches!(self, Self::Offline)
    }

    /// The name of the model that is asked first, or `offline`.
    pub fn model_name(&self) -> &str {
        match self {
            Self::OpenAi(model) => model.model_name(),
            Self::Offline => "offline",
        }
    }

    /// The host that prompts are sent to. `None`: they stay here.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::OpenAi(model) => Some(model.host()),
            Self::Offline => None,
        }
    }
}
