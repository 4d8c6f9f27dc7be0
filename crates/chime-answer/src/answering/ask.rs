//! Builds the prompt and the request, and asks the model.

use std::hash::BuildHasher;
use std::sync::Arc;

use crate::answer_steps::{ModelFailure, WindowSize};
use crate::answering::draft::failure_of;
use crate::answering::log;
use crate::answering::owners::tell_owners;
use crate::answering::question::{QuestionContext, ShownPhoto};
use crate::answering::services::Services;
use crate::answering::stream::ask_showing;
use crate::answering::typing::while_typing;
use crate::lines::Style;
use crate::prompt::{self, BuiltPrompt, PromptInput};
use crate::tools::LookupTool;
use chime_access::gateway::ask::{ModelCall, UsageRecord};
use chime_access::gateway::{AskError, ModelPreference, ModelPurpose};
use chime_core::Job;
use chime_core::chat_settings::{ANSWER_LENGTH, TEMPERATURE};
use chime_core::prompts::PromptError;
use chime_llm::{Completion, Picture, Prompt, PromptMessage, PromptRole, Tools};

/// The temperature is low, since an answer should repeat facts of the chat and not vary them.
const USUAL_TEMPERATURE: f32 = 0.2;

/// Returns a random delimiter to put around untrusted text.
pub fn new_fence() -> String {
    letters(chime_runtime::resilience::random())
}

/// Builds the prompt. `room` is the token limit of the whole prompt; `None` if the context size of the model is
/// unknown.
pub fn build_prompt(
    services: &Services,
    question: &QuestionContext,
    room: Option<usize>,
) -> Result<BuiltPrompt, PromptError> {
    // Derived from random keys, so that members cannot guess the delimiter. It is the same for all questions of a chat,
    // so that model servers can reuse cached prefixes.
    let fence = letters(services.state.fences.hash_one(question.chat.key));
    prompt::build(
        &services.prompts,
        &PromptInput {
            bot_name: &services.base.bot().name,
            chat_title: question.chat.chat.title.as_deref(),
            chat_kind: question.chat.chat.kind,
            grounding: question.grounding(),
            topic: question.topic.as_deref(),
            photos: &question.photos.iter().map(|shown| shown.seq).collect::<Vec<_>>(),
            people: &question.people,
            style: question.style,
            length: question.settings.get(ANSWER_LENGTH).unwrap_or_default(),
            language: question.language_in_prompt(),
            now: services.base.clock.now(),
            zone: question.zone,
            trigger: question.trigger(),
            ask: &question.history.ask,
            generic: question.generic && !question.follow_up.needs_prompt_slot(),
            window: &question.window,
            recalled: &question.recalled,
            follow_up: &question.follow_up,
            // Left out of plain prompts, which are for small models.
            concepts: &if question.style == Style::Numbered { question.scope.lines() } else { Vec::new() },
            fence: &fence,
            earliest: question.earliest,
            estimate: services.params.estimate,
            enrichment: &question.enrichment,
            room,
        },
    )
}

/// Builds the request that opens the conversation with the model.
pub fn model_request(question: &QuestionContext, built: &BuiltPrompt, window: WindowSize) -> Prompt {
    let message = |role, content: &str| PromptMessage { role, content: content.to_owned() };
    let messages = vec![message(PromptRole::System, &built.system), message(PromptRole::User, &built.user)];
    let picture = |shown: &ShownPhoto| Picture {
        label: built.labels.number_of(shown.seq).map_or_else(String::new, |number| format!("[{number}]")),
        media_type: media_type(&shown.bytes),
        bytes: Arc::clone(&shown.bytes),
    };
    Prompt {
        pictures: question.photos.iter().map(picture).collect(),
        // At a low temperature the same unusable answer would come again.
        temperature: (window != WindowSize::Plainest)
            .then(|| question.settings.get(TEMPERATURE).unwrap_or(USUAL_TEMPERATURE)),
        tools: Tools { known: LookupTool::ALL.map(LookupTool::as_str).to_vec(), ..Tools::default() },
        ..Prompt::new(messages, ModelPurpose::Answer.max_answer_tokens())
    }
}

/// Builds the call that asks for an answer to `question`.
pub fn model_call<'p>(question: &QuestionContext, prompt: &'p Prompt, choice: ModelPreference) -> ModelCall<'p> {
    ModelCall {
        purpose: ModelPurpose::Answer,
        conversation: question.trigger().conversation(),
        on_behalf_of: (!question.is_unasked).then(|| question.asker()),
        preference: choice,
        prompt,
    }
}

/// Asks the model, and shows in the chat that the bot is typing.
pub async fn ask(
    services: &Services,
    job: &Job,
    question: &QuestionContext,
    built: &BuiltPrompt,
    prompt: &Prompt,
    choice: ModelPreference,
) -> Result<(Completion, UsageRecord), ModelFailure> {
    let watch = services.base.clock.stopwatch();
    let call = model_call(question, prompt, choice);
    let asking = ask_showing(services, job, question, built, call);
    let answered = match question.is_unasked {
        true => asking.await,
        false => while_typing(&services.base, &question.trigger().message, asking).await,
    };
    log::asked(&answered, watch.elapsed());
    if let Err(AskError::Final(error)) = &answered {
        tell_owners(services, error).await;
    }
    answered.map_err(|error| failure_of(&error))
}

/// Returns the MIME type of an image by its first bytes, since an image that was sent as a file may be of any type.
fn media_type(bytes: &[u8]) -> &'static str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => "image/jpeg",
    }
}

/// Encodes `number` as ten letters. Digits are not used, since a small model takes a delimiter with digits for a
/// telephone number or a code.
fn letters(number: u64) -> String {
    const LETTERS: &[u8; 16] = b"BCDFGHJKLMNPQRST";
    (0..10).map(|place| char::from(LETTERS[(number >> (place * 4)) as usize % LETTERS.len()])).collect()
}
