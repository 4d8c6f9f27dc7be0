//! Asking a language model, and making sense of whatever comes back.
//!
//! *Owns*: the HTTP client of OpenAI-compatible servers, their wire formats, retries and fallback, typed errors.
//! *Never*: prompts or policy, a log line with a prompt, an answer or a key in it.
//! *Entry*: [`Llm`] is built once from [`LlmOptions`]; its [`OpenAi`] backend answers a [`Prompt`] with a
//! [`Completion`] or an [`LlmError`] that says what the caller can do. [`Embeddings`] makes vectors,
//! [`Transcriptions`] transcribes recordings.

mod backend;
mod calls;
mod code;
mod counts;
mod diagnose;
mod dialect;
mod embeddings;
mod error;
mod facts;
mod markers;
mod openai;
mod progress;
mod prompt;
mod repetition;
mod stream;
mod thinking;
mod tools;
mod transcriptions;
mod transport;
mod turns;
mod visible;
mod wire;

#[cfg(test)]
mod tests;

pub use backend::{Llm, LlmOptions};
pub use embeddings::{Embeddings, Prepare};
pub use error::{Check, LlmError, Recovery};
pub use facts::{MANY_SLOTS, ServerFacts};
pub use openai::OpenAi;
pub use progress::Progress;
pub use prompt::{AnswerFormat, Completion, Picture, Prompt, PromptMessage, PromptRole};
pub use tools::{Tool, ToolCall, ToolRound, Tools};
pub use transcriptions::{Audio, Transcript, Transcriptions, tokens_of};
