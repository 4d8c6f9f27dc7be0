//! Small test calls that show an operator whether a server supports chat, tools and streaming.

use std::time::Duration;

use serde_json::json;

use super::{OpenAi, ServerCall};
use crate::diagnose::diagnose;
use crate::wire;
use crate::{Completion, LlmError, Prompt, PromptMessage, PromptRole, Tool, Tools};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;

/// Token limit of a test answer. Leaves room for the reasoning before the first word.
const ROOM: u32 = 256;

impl OpenAi {
    /// Asks each model for one word. Returns the name of each, with the duration of its answer or the error.
    pub async fn probe_chat(&self, clock: &Clock) -> Vec<(&str, Result<Duration, LlmError>)> {
        let mut probed = Vec::new();
        for model in std::iter::once(&self.primary).chain(&self.fallback) {
            let prompt = question("Answer with the one word: ready");
            let call = ServerCall { prompt: &prompt, progress: None, clock };
            let watch = clock.stopwatch();
            let asked = self.ask(model, call).await;
            probed.push((model.name.as_str(), asked.map(|_| watch.elapsed())));
        }
        probed
    }

    /// Sends a prompt to the primary model, without retries.
    ///
    /// # Errors
    /// Any error of the call, including the end of the prompt's time limit.
    pub async fn probe_answer(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        self.ask(&self.primary, ServerCall { prompt, progress: None, clock }).await
    }

    /// Returns `true` if the model calls a tool when the prompt asks for it.
    ///
    /// # Errors
    /// Any error of the call.
    pub async fn probe_tools(&self, clock: &Clock) -> Result<bool, LlmError> {
        let parameters = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let ping = Tool { name: "ping", description: "Answers with pong.", parameters };
        let tools = Tools { offered: vec![ping], ..Tools::default() };
        let prompt = Prompt { tools, ..question("Call the tool `ping` now.") };
        Ok(!self.probe_answer(&prompt, clock).await?.calls.is_empty())
    }

    /// Returns `true` if the server streams answers.
    pub async fn probe_streaming(&self, clock: &Clock) -> Result<bool, LlmError> {
        let prompt = question("Answer with the one word: ready");
        let mut request = wire::request(&self.primary.name, &prompt, self.primary.dialect(clock.now()));
        request["stream"] = json!(true);
        let streams = within(clock, self.timeout, self.primary.server.streams(&request)).await;
        streams.ok_or(LlmError::TimedOut)?.map_err(diagnose)
    }
}

pub(super) fn question(words: &str) -> Prompt {
    Prompt::new(vec![PromptMessage { role: PromptRole::User, content: words.to_owned() }], ROOM)
}
