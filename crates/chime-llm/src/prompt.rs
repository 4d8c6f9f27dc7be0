//! Prompts and completions.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::{ToolCall, Tools};
use chime_core::{Timestamp, TokenUse, estimate_tokens};

/// A request to a model: messages, tools, pictures and limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    pub max_answer_tokens: u32,
    /// `None` uses the server's default.
    pub temperature: Option<f32>,
    pub format: AnswerFormat,
    pub tools: Tools,
    /// Pictures added to the last of `messages`, for models with vision.
    pub pictures: Vec<Picture>,
    /// Time after which the answer is useless: the call ends then, even before the deadline of the client.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub label: String,
    /// MIME type, such as `image/jpeg`.
    pub media_type: &'static str,
    pub bytes: Arc<[u8]>,
}

/// Estimated tokens of a picture: roughly what servers count for 1,280 by 960 pixels.
const PICTURE_TOKENS: usize = 1_500;

#[derive(Debug, Clone, Default, PartialEq)]
pub enum AnswerFormat {
    #[default]
    Text,
    /// JSON with a strict schema. Not sent to servers that refuse schemas, so the prompt must describe the format too.
    Json { name: &'static str, schema: Value },
}

impl AnswerFormat {
    /// Adds missing limits on items and characters to the JSON schema: a small model may never end a list.
    #[must_use]
    pub fn bounded(self) -> Self {
        match self {
            Self::Text => Self::Text,
            Self::Json { name, mut schema } => {
                bound(&mut schema);
                Self::Json { name, schema }
            }
        }
    }
}

fn bound(schema: &mut Value) {
    const MOST_ITEMS: usize = 12;
    const MOST_CHARS: usize = 240;
    match schema {
        Value::Object(fields) => {
            let is = |kind: &str| fields.get("type").is_some_and(|it| it == kind || it[0] == kind);
            let (is_list, is_text) = (is("array"), is("string"));
            if is_list {
                fields.entry("maxItems").or_insert(MOST_ITEMS.into());
            }
            if is_text {
                fields.entry("maxLength").or_insert(MOST_CHARS.into());
            }
            fields.values_mut().for_each(bound);
        }
        Value::Array(items) => items.iter_mut().for_each(bound),
        _ => {}
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptMessage {
    pub role: PromptRole,
    pub content: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptRole {
    System,
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Trimmed text without reasoning. Empty only if there are `calls`.
    pub text: String,
    /// Tool calls that the model requests before it answers.
    pub calls: Vec<ToolCall>,
    /// Configured name of the model that answered: the primary or the fallback.
    pub model: String,
    pub tokens: TokenUse,
    /// `true` if the server counted `tokens`. Otherwise they are an estimate, which budgets may use and
    /// [`TokenCalibration`](chime_core::TokenCalibration) must not.
    pub tokens_counted: bool,
    /// Prompt tokens that the server took from its cache, if it reports them.
    pub reused: Option<u64>,
    /// `true` if the server probably truncated the prompt: it counted far fewer tokens than estimated.
    pub prompt_cut: bool,
    /// `true` if the answer reached `max_answer_tokens`.
    pub truncated: bool,
    /// Time from the call to the first word of a streamed answer.
    pub first_word: Option<Duration>,
}

impl Completion {
    /// Parses the answer as JSON, ignoring a code fence and text around it.
    pub fn parse_json<T: DeserializeOwned>(&self) -> Option<T> {
        let start = self.text.find(['{', '['])?;
        let end = self.text.rfind(['}', ']'])?;
        serde_json::from_str(self.text.get(start..=end)?).ok()
    }
}

impl Prompt {
    /// Builds a prompt for a text answer, without tools.
    pub fn new(messages: Vec<PromptMessage>, max_answer_tokens: u32) -> Self {
        Self {
            messages,
            max_answer_tokens,
            temperature: None,
            format: AnswerFormat::Text,
            tools: Tools::default(),
            pictures: Vec::new(),
            until: None,
        }
    }

    pub fn has_system(&self) -> bool {
        self.messages.iter().any(|message| message.role == PromptRole::System)
    }

    /// Returns an estimate of the prompt's tokens, with pictures and tools. It tends to be too high rather than too
    /// low.
    pub fn estimated_tokens(&self) -> usize {
        /// Tokens that a chat template adds to each message.
        const WRAPPING: usize = 4;
        let messages: usize = self.messages.iter().map(|message| estimate_tokens(&message.content) + WRAPPING).sum();
        messages + self.tools.estimated_tokens() + self.pictures.len() * PICTURE_TOKENS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_texts_of_a_schema_have_an_end() {
        let schema = serde_json::json!({
            "type": "object",
            "properties": {
                "tags": {"type": "array", "items": {"type": "string"}},
                "few": {"type": "array", "maxItems": 3, "items": {"type": "number"}},
                "maybe": {"type": ["string", "null"]},
            },
        });
        let bounded = AnswerFormat::Json { name: "x", schema }.bounded();
        let expected = serde_json::json!({
            "type": "object",
            "properties": {
                "tags": {"type": "array", "maxItems": 12, "items": {"type": "string", "maxLength": 240}},
                "few": {"type": "array", "maxItems": 3, "items": {"type": "number"}},
                "maybe": {"type": ["string", "null"], "maxLength": 240},
            },
        });
        assert_eq!(bounded, AnswerFormat::Json { name: "x", schema: expected });
    }

    #[test]
    fn json_is_read_whatever_stands_around_it() {
        let parsed = |text: &str| {
            let completion = Completion {
                text: text.to_owned(),
                calls: Vec::new(),
                model: "m".to_owned(),
                tokens: TokenUse::default(),
                tokens_counted: false,
                reused: None,
                prompt_cut: false,
                first_word: None,
                truncated: false,
            };
            completion.parse_json::<Vec<u32>>()
        };
        assert_eq!(parsed("[1, 2]"), Some(vec![1, 2]));
        assert_eq!(parsed("Here it is:\n```json\n[1, 2]\n```"), Some(vec![1, 2]));
        assert_eq!(parsed("{\"tags\": []}"), None, "another shape");
        assert_eq!(parsed("none"), None);
    }
}
