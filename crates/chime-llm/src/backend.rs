//! The configured model and its options.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::{LlmError, OpenAi};
use chime_core::config::{LlmConfig, ModelConfig, ModelServerConfig};

/// The model that answers. Cheap to clone: clones share their connections.
#[derive(Debug, Clone)]
pub enum Llm {
    /// A server with OpenAI's chat completions API.
    OpenAi(Arc<OpenAi>),
    /// No model is configured: callers answer with a list of the messages that best fit the question.
    Offline,
}

/// Address, credentials, model names and time limits of a model server.
#[derive(Debug, Clone)]
pub struct LlmOptions {
    /// `OPENAI_API_KEY`. Local servers need none.
    pub api_key: Option<SecretString>,
    /// `OPENAI_BASE_URL`, including its `/v1`, with or without a trailing slash.
    pub base_url: String,
    pub model: String,
    pub fallback: Option<ModelConfig>,
    /// `MODEL_TIMEOUT`: longest time without new data within an answer. The first word may take longer.
    pub timeout: Duration,
    /// `ANSWER_DEADLINE`: time from the start of a call after which no retry starts.
    pub deadline: Duration,
}

impl LlmOptions {
    /// Returns the options for `model` on the operator's server, without a fallback.
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

    /// Returns the options for a model that may have a server of its own, without a fallback.
    pub fn placed(config: &LlmConfig, model: &ModelConfig) -> Self {
        Self::of(config, &model.name).on(model.server.as_ref())
    }

    /// Takes address and key from `server`, if there is one.
    #[must_use]
    pub(super) fn on(self, server: Option<&ModelServerConfig>) -> Self {
        match server {
            Some(server) => Self { api_key: server.api_key.clone(), base_url: server.base_url.clone(), ..self },
            None => self,
        }
    }
}

impl Llm {
    /// Builds the client without opening a connection.
    ///
    /// # Errors
    /// [`LlmError::NotConfigured`] for an invalid address, a key that cannot be sent, or an empty model name.
    pub fn new(options: LlmOptions) -> Result<Self, LlmError> {
        Ok(Self::OpenAi(Arc::new(OpenAi::new(options)?)))
    }

    pub fn is_offline(&self) -> bool {
        matches!(self, Self::Offline)
    }

    pub fn model_name(&self) -> &str {
        match self {
            Self::OpenAi(model) => model.model_name(),
            Self::Offline => "offline",
        }
    }

    /// Returns the host of the model server, or `None` if no model is configured.
    pub fn host(&self) -> Option<&str> {
        match self {
            Self::OpenAi(model) => Some(model.host()),
            Self::Offline => None,
        }
    }
}
