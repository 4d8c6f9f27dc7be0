//! Gateway to the models: a call passes the budget check, the circuit breakers and the queue, goes to the model for its
//! purpose, and leaves a usage record.
//!
//! Start with [`ask::Gateway::ask`]; [`ask::Transcriber`] transcribes recordings. The wire format is in `chime-llm`.

pub mod ask;
mod budget;
mod error;
mod guard;
mod purpose;
mod size;

pub use budget::DailyBudget;
pub use error::AskError;
pub use guard::{GuardState, GuardedCall, ModelGuard};
pub use purpose::{ModelPreference, ModelPurpose};
pub use size::{answer_tokens, fitting_talk, room_for_answer, room_for_prompt, slots, talk_tokens};
