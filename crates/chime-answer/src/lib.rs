//! Turns a context window into an answer and delivers it.
//!
//! [`answering::answer`] makes the answer to a trigger, [`answering::deliver`] sends a reply. `answer_steps` and
//! `delivery` make their decisions as pure state machines; `prompt` builds the prompt, `citations` checks the model's
//! answer. This crate does not choose messages (`chime-relevance` does) and exposes no types of teloxide or rusqlite.

#![recursion_limit = "256"]

pub mod answer_steps;
pub mod answering;
pub mod citation_basis;
mod citation_forms;
pub mod citations;
mod code_blocks;
pub mod concepts;
pub mod delivery;
pub mod digest;
pub mod documents;
pub mod echo;
pub mod explain;
mod extractive_ranking;
pub mod followup;
pub mod grounding;
mod lines;
pub mod notes;
mod posted_texts;
pub mod prompt;
pub mod read_text;
pub mod recall;
pub mod sanitize;
mod source_lists;
mod sources;
pub mod stream;
pub mod support;
pub mod tools;
pub mod uncertainty;
mod used_memory;
pub mod voice;
pub mod why;
pub mod wording;

pub use extractive_ranking::shared_word_ratio;

use chime_core::pattern;

/// Compiles a constant regular expression that ignores case.
fn pattern_in_any_case(raw: &str) -> regex::Regex {
    pattern(&format!("(?i){raw}"))
}
