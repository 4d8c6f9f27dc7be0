//! Client for OpenAI-compatible model servers: wire formats, retries, fallback and typed errors.
//!
//! [`Llm`] is built once from [`LlmOptions`]; its [`OpenAi`] backend answers a [`Prompt`] with a [`Completion`] or an
//! [`LlmError`] that tells the caller how to recover. [`Embeddings`] computes vectors, [`Transcriptions`] transcribes
//! recordings. Prompts and policy live elsewhere; no log line contains a prompt, an answer or a key.

mod backend;
mod channels;
mod code;
mod diagnose;
mod dialect;
mod embeddings;
mod error;
mod facts;
mod failure;
mod fields;
mod loudness;
mod markers;
mod openai;
mod phrases;
mod progress;
mod prompt;
mod repetition;
mod silence;
mod stream;
mod thinking;
mod tools;
mod transcriptions;
mod transport;
mod turns;
mod usage;
mod visible;
mod wire;
mod written_calls;

#[cfg(test)]
mod tests;

pub use backend::{Llm, LlmOptions};
pub use embeddings::{Embeddings, Prepare};
pub use error::{Check, LlmError, Recovery};
pub use facts::{MANY_SLOTS, ServerFacts};
pub use openai::{OpenAi, UsedServer};
pub use progress::AnswerProgress;
pub use prompt::{AnswerFormat, Completion, Picture, Prompt, PromptMessage, PromptRole};
pub use tools::{Tool, ToolCall, ToolRound, Tools};
pub use transcriptions::{Audio, Transcript, Transcriptions, tokens_of};
