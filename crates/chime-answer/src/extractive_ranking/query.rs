//! A question whose answer is looked for in a window.

use chime_core::embed::Embedder;
use chime_core::{BotIdentity, Language};

/// Minimum match (share of the question's words) of a message for it to count as an answer.
pub(super) const ANSWER: f64 = 0.5;

/// A question, and the bot that was asked.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The question without the mention of the bot.
    pub ask: &'a str,
    pub bot: &'a BotIdentity,
    /// Language of the chat.
    pub language: Language,
    /// Embedding model, for matches in other words or another language. `None` if there is none.
    pub embedder: Option<&'a Embedder>,
}
