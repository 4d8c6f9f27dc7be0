//! The one way to ask a model: whether it may be asked, which model and for how long, what it cost.
//!
//! *Owns*: the purposes with their models, limits and deadlines, the queue before the server, what is known of its size and
//! speed, the breakers, the day's budget, the ledger of calls and how
//! each model counts tokens.
//! *Never*: prompt text, what an answer is used for, the wire format (that is `llm`).
//! *Entry*: [`ask::Gateway`]; whoever wants an answer calls [`ask::Gateway::ask`]. [`ask::Transcriber`] has recordings transcribed.

pub mod ask;
mod budget;
mod error;
mod guard;
mod purpose;
mod size;

pub use budget::Budget;
pub use error::AskError;
pub use guard::{GuardState, ModelGuard};
pub use purpose::{Economy, Purpose};
pub use size::{answer_tokens, room_for_answer, room_for_prompt, slots, talk_tokens};
