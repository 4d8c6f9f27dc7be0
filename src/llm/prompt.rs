//! What goes to a model and what comes back.

use serde::Serialize;

use crate::domain::{TokenUse, estimate_tokens};

/// A question to a model, complete in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    pub messages: Vec<PromptMessage>,
    pub max_answer_tokens: u32,
    /// `None` leaves it to the server.
    pub temperature: Option<f32>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Never blank; trimmed, and without the model's thinking aloud.
    pub text: String,
    /// The model that was asked, by the name it was asked for: the fallback's, when that answered.
    pub model: String,
    pub tokens: TokenUse,
    /// Whether the server counted `tokens`. Otherwise they are our estimate, which budgets may use and
    /// [`TokenCalibration`](crate::domain::TokenCalibration) must not.
    pub tokens_counted: bool,
    /// The answer was cut off at `max_answer_tokens`.
    pub truncated: bool,
}

impl Prompt {
    /// Tokens of the whole prompt, rather too many than too few.
    pub fn estimated_tokens(&self) -> usize {
        /// What a chat template puts around each message.
        const WRAPPING: usize = 4;
        self.messages.iter().map(|message| estimate_tokens(&message.content) + WRAPPING).sum()
    }
}
