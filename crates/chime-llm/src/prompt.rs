//! What goes to a model and what comes back.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::tools::{ToolCall, Tools};
use chime_core::{Timestamp, TokenUse, estimate_tokens};

/// A question to a model, complete in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    pub max_answer_tokens: u32,
    /// `None` leaves it to the server.
    pub temperature: Option<f32>,
    pub format: AnswerFormat,
    pub tools: Tools,
    /// Shown below the last of `messages`, to models that see.
    pub pictures: Vec<Picture>,
    /// When nobody waits for the answer any more, where that is sooner than the deadline of the model.
    pub until: Option<Timestamp>,
}

/// A picture, with a line above it that says what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub label: String,
    /// `image/jpeg`.
    pub media_type: &'static str,
    pub bytes: Arc<[u8]>,
}

/// What a picture counts as, in tokens: what servers take for one of 1,280 by 960 dots, roughly.
const PICTURE_TOKENS: usize = 1_500;

/// The form in which an answer is wanted.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum AnswerFormat {
    #[default]
    Text,
    /// JSON by a schema, strictly. Servers that know no schemas are asked without it, so the prompt has to say it too.
    Json { name: &'static str, schema: Value },
}

impl AnswerFormat {
    /// Limits how many items and characters JSON may have, where its schema does not: a small model may not find an end.
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

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Trimmed, and without the model's thinking aloud. Blank only beside `calls`.
    pub text: String,
    /// The tools that the model wants used before it answers.
    pub calls: Vec<ToolCall>,
    /// The model that was asked, by the name it was asked for: the fallback's, when that answered.
    pub model: String,
    pub tokens: TokenUse,
    /// Whether the server counted `tokens`. Otherwise they are our estimate, which budgets may use and
    /// [`TokenCalibration`](chime_core::TokenCalibration) must not.
    pub tokens_counted: bool,
    /// Tokens of the prompt that the server had read before and did not read again, where it tells.
    pub reused: Option<u64>,
    /// The server counted less than half of the prompt: it reads no more than the end or the beginning of it.
    pub prompt_cut: bool,
    /// The answer was cut off at `max_answer_tokens`.
    pub truncated: bool,
    /// From the call to the first word, where the answer was streamed.
    pub first_word: Option<Duration>,
}

impl Completion {
    /// The answer as JSON. A fence around it, or words before and behind it, do no harm.
    pub fn parse_json<T: DeserializeOwned>(&self) -> Option<T> {
        let start = self.text.find(['{', '['])?;
        let end = self.text.rfind(['}', ']'])?;
        serde_json::from_str(self.text.get(start..=end)?).ok()
    }
}

impl Prompt {
    /// A question for a text, without tools.
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

    /// Tokens of the whole prompt, rather too many than too few.
    pub fn estimated_tokens(&self) -> usize {
        /// What a chat template puts around each message.
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
