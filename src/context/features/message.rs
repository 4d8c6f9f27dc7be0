//! What is read off messages before anything is chosen.

use std::borrow::Cow;

use crate::context::features::lexical::stems;
use crate::context::features::mentions::{Speech, Turn};
use crate::context::features::token::Token;
use crate::domain::{ChatId, Message, MessageId, StoredMessage};
use crate::retrieval::days_named;

/// What one message says by itself, whoever asks: worked out once, good for as long as the message stays the same.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageFeatures {
    pub speech: Speech,
    /// Of unit length; empty where the embedding model does not know the text.
    pub vector: Vec<f32>,
    /// Ascending, each once.
    pub stems: Vec<Token>,
    /// The days that it names, as days since 1970, ascending.
    pub days: Vec<i32>,
    /// It calls a bot by its name.
    pub calls_bot: bool,
}

impl MessageFeatures {
    /// Reads `message`, `text` being its words without the names of bots.
    pub fn of(message: &Message, text: &str, vector: Vec<f32>) -> Self {
        Self {
            speech: Speech::read(message, text),
            vector,
            stems: stems(text),
            days: days_named(text, message.sent_at),
            calls_bot: text.len() < message.text.len(),
        }
    }

    /// What it takes in memory, near enough.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.vector) + size_of_val(&*self.stems) + self.speech.bytes()
    }

    pub fn turn(&self) -> Turn<'_> {
        Turn { speech: &self.speech, stems: &self.stems, vector: &self.vector }
    }
}

/// A text without the names of bots: whom a tag calls is no word of the talk. Telegram lets only bots be called so.
pub fn without_bots(text: &str) -> Cow<'_, str> {
    let is_bot = |word: &&str| {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '@' && c != '_').to_lowercase();
        name.starts_with('@') && name.ends_with("bot")
    };
    if !text.contains('@') || !text.split_whitespace().any(|word| is_bot(&word)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().filter(|word| !is_bot(word)).collect::<Vec<_>>().join(" "))
}

/// Message ids start anew when a chat becomes a supergroup, so the id alone does not name a message.
pub type Address = (ChatId, MessageId);

pub fn address(stored: &StoredMessage) -> Address {
    (stored.message.chat, stored.message.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_bots_are_no_words() {
        assert_eq!(without_bots("so, @chime_bot, thoughts?"), "so, thoughts?");
        assert_eq!(without_bots("(@ChimeBot) a  @bot b"), "a b");
        let others = "ask @ann_lee,  or robot@example.com\n(a bot)";
        assert!(matches!(without_bots(others), Cow::Borrowed(same) if same == others));
    }
}
