//! Builds the request to the model.

use std::sync::Arc;

use ulid::Ulid;

use crate::answering::question::ShownPhoto;
use crate::prompt::BuiltPrompt;
use chime_access::gateway::ModelPurpose;
use chime_llm::{Picture, Prompt, PromptMessage, PromptRole};

/// The temperature is low, since an answer should repeat facts of the chat and not vary them.
const TEMPERATURE: f32 = 0.2;

/// Returns a random delimiter to put around untrusted text.
pub fn new_fence() -> String {
    let fence = Ulid::from_parts(0, chime_runtime::resilience::random().into()).to_string();
    fence.get(12..).unwrap_or(&fence).to_owned()
}

pub fn asked(built: &BuiltPrompt, photos: &[ShownPhoto]) -> Prompt {
    let message = |role, content: &str| PromptMessage { role, content: content.to_owned() };
    let messages = vec![message(PromptRole::System, &built.system), message(PromptRole::User, &built.user)];
    let picture = |shown: &ShownPhoto| Picture {
        label: built.labels.number_of(shown.seq).map_or_else(String::new, |number| format!("[{number}]")),
        media_type: media_type(&shown.bytes),
        bytes: Arc::clone(&shown.bytes),
    };
    let pictures = photos.iter().map(picture).collect();
    let prompt = Prompt::new(messages, ModelPurpose::Answer.max_answer_tokens());
    Prompt { pictures, temperature: Some(TEMPERATURE), ..prompt }
}

/// Returns the type of an image by its first bytes: one sent as a file may have any.
fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => "image/jpeg",
    }
}
