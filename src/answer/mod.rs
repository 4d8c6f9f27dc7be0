//! From a context window to the words that go out.
//!
//! *Owns*: the prompt and its slots, citations, the answer without a model, and every other sentence of an answer.
//! *Never*: teloxide or rusqlite types; choosing messages (that is `context`).
//! *Entry*: [`prompt::build`], then [`citations::check`]; without a model [`digest::digest`].
//!
//! In reading order: `prompt` (the slots), `lines` (the window as text), `citations`, `telling` (the
//! messages to show when there is no model), `digest`, `wording`, `plain` (members' words made safe to show).

pub mod citations;
pub mod digest;
mod lines;
mod plain;
pub mod prompt;
mod telling;
pub mod wording;
