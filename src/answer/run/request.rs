//! A prompt on its way to the model.

use ulid::Ulid;

use crate::answer::prompt::BuiltPrompt;
use crate::gateway::Purpose;
use crate::llm::{Prompt, PromptMessage, PromptRole};

/// A code that nobody outside this process has seen when the members wrote their messages.
pub fn new_fence() -> String {
    let fence = Ulid::from_parts(0, crate::resilience::random().into()).to_string();
    fence.get(12..).unwrap_or(&fence).to_owned()
}

/// The prompt as it goes to the model.
pub fn asked(built: &BuiltPrompt) -> Prompt {
    let message = |role, content: &str| PromptMessage { role, content: content.to_owned() };
    let messages = vec![message(PromptRole::System, &built.system), message(PromptRole::User, &built.user)];
    Prompt::new(messages, Purpose::Answer.max_answer_tokens())
}
