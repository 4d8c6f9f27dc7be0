//! Calls a model for summaries in the background. Background work may use only a part of the daily tokens.

use std::time::Duration;

use crate::policy::Caps;
use chime_access::gateway::ask::{Gateway, ModelCall};
use chime_access::gateway::{AskError, DailyBudget, ModelPreference, ModelPurpose};
use chime_core::config::{DailyTokens, Redaction};
use chime_core::{ChatKey, Conversation, Spent, TokenUse, UserId};
use chime_llm::{AnswerFormat, Prompt, PromptMessage, PromptRole};
use chime_privacy::redact;
use chime_runtime::clock::Clock;

pub struct SummaryModel {
    pub gateway: Gateway,
    pub caps: DailyTokens,
    pub redaction: Redaction,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelOutput {
    pub text: String,
    pub model: String,
    pub tokens: TokenUse,
    pub cost_micros: Option<u64>,
    pub latency: Duration,
}

/// Request for a model call. `material` is text by members, `task` holds the instructions.
#[derive(Debug, Clone)]
pub(super) struct ModelRequest<'a> {
    pub conversation: Conversation,
    /// Member who waits for the result; `None` for background work.
    pub on_behalf_of: Option<UserId>,
    pub purpose: ModelPurpose,
    pub format: AnswerFormat,
    pub task: String,
    pub material: &'a str,
}

impl SummaryModel {
    /// Returns `true` if there is a model that can do the work of `purpose`. A small model mixes up who does what, so
    /// an extract of the members' own words is better.
    pub async fn can_write(&self, purpose: ModelPurpose) -> bool {
        self.gateway.wait_for_facts().await;
        !self.gateway.is_offline() && !self.gateway.is_small(purpose)
    }

    /// Returns `true` if enough of the daily budget is left for work that no member waits for.
    pub(super) fn has_room(&self, spent: Spent) -> bool {
        DailyBudget { caps: self.caps, ..DailyBudget::default() }.has_room_unasked(spent)
    }

    /// Returns the number of tokens of members' text that fit into one call, at most `most`.
    pub(super) fn material_tokens(&self, most: usize) -> usize {
        /// Estimated tokens of the instructions and the delimiters.
        const TASK: usize = 700;
        const LEAST: usize = 200;
        let room = self.gateway.prompt_room(ModelPurpose::Summary);
        room.map_or(most, |room| most.min(room.saturating_sub(TASK).max(LEAST)))
    }

    /// Converts a limit in tokens of the model to estimated tokens.
    pub(super) fn limit(&self, caps: Caps) -> Caps {
        Caps { tokens: self.gateway.estimated(ModelPurpose::Summary, caps.tokens), ..caps }
    }

    /// Asks the model for a text about `material`, which members wrote. Nobody waits for it.
    pub(super) async fn ask(
        &self,
        chat: ChatKey,
        purpose: ModelPurpose,
        task: String,
        material: &str,
        clock: &Clock,
    ) -> Result<ModelOutput, AskError> {
        let conversation = Conversation { chat, forum_topic: None };
        let request =
            ModelRequest { conversation, on_behalf_of: None, purpose, format: format(purpose), task, material };
        self.ask_for(request, clock).await
    }

    /// Asks the model as `request` says: in a given format, and on behalf of a member if one waits.
    pub(super) async fn ask_for(&self, request: ModelRequest<'_>, clock: &Clock) -> Result<ModelOutput, AskError> {
        let ModelRequest { conversation, on_behalf_of, purpose, format, task, material } = request;
        let material = if self.redaction == Redaction::Off { material.to_owned() } else { redact(material) };
        let message = |role, content| PromptMessage { role, content };
        let messages = vec![message(PromptRole::System, task), message(PromptRole::User, material)];
        let prompt = Prompt { format, ..Prompt::new(messages, purpose.max_answer_tokens()) };
        let watch = clock.stopwatch();
        let ask = ModelCall { purpose, conversation, on_behalf_of, preference: ModelPreference::Best, prompt: &prompt };
        let completion = self.gateway.ask(ask).await?;
        let cost = self.gateway.cost_micros(&completion.model, completion.tokens);
        Ok(ModelOutput {
            text: completion.text,
            model: completion.model,
            tokens: completion.tokens,
            cost_micros: (cost > 0).then_some(cost),
            latency: watch.elapsed(),
        })
    }
}

/// Returns the answer format for `purpose`: JSON for tags, else plain text.
fn format(purpose: ModelPurpose) -> AnswerFormat {
    match purpose {
        ModelPurpose::Answer | ModelPurpose::Summary => AnswerFormat::Text,
        ModelPurpose::Extract => AnswerFormat::Json {
            name: "tags",
            schema: serde_json::json!({
                "type": "object",
                "properties": {"tags": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"tag": {"type": "string"}, "conf": {"type": "number"}},
                    "required": ["tag", "conf"],
                    "additionalProperties": false,
                }}},
                "required": ["tags"],
                "additionalProperties": false,
            }),
        },
    }
}
