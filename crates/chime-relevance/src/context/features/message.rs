//! Features of a single message.

use std::borrow::Cow;

use crate::context::features::lexical::{parts, stems, stems_of_name, words};
use crate::context::features::token::{Token, token};
use crate::retrieval::days_named;
use chime_core::trigger::{Languages, names_bot};
use chime_core::{
    ChatId, EntityKind, Message, MessageId, StoredMessage, Timestamp, UserId, folded, is_unspaced, pieces,
};

/// Number of bytes at the start of a text that are searched for names.
const NAMES_WITHIN: usize = 600;
/// Minimum characters of a name; a shorter word is too often not a name.
const MIN_NAME_CHARS: usize = 3;

/// Features of a message that depend on no other message. They stay valid until the message is edited.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageFeatures {
    pub at: Timestamp,
    pub author: UserId,
    /// Members mentioned by a Telegram entity.
    pub mentioned: Box<[UserId]>,
    /// Text before the first colon or comma, which may name the addressee ("Ann, …"); `None` if it cannot be a name.
    pub lead: Option<Token>,
    /// Words at the start of the text that may be names, in order.
    pub named: Box<[Token]>,
    /// First name and username of the author. `author_stems` holds the stems of all words of both.
    pub author_names: Box<[Token]>,
    pub author_stems: Box<[Token]>,
    pub is_question: bool,
    pub chars: usize,
    /// Embedding of the text, of unit length; empty if the embedding model does not know the text.
    pub vector: Vec<f32>,
    /// Stems of the text, ascending, without duplicates.
    pub stems: Vec<Token>,
    /// Days that the text names, as days since 1970, ascending.
    pub days: Vec<i32>,
    /// `true` if the text names a bot.
    pub calls_bot: bool,
}

impl MessageFeatures {
    /// Computes the features of `message`; `text` is its text without the names of bots.
    pub fn of(message: &Message, text: &str, vector: Vec<f32>) -> Self {
        let head = text.get(..text.floor_char_boundary(NAMES_WITHIN)).unwrap_or(text);
        let (name, username) = (message.sender.name.as_str(), message.sender.username.as_deref());
        let lead = text.split_once([':', ',', '：', '，', '、', '،']).map(|(lead, _)| lead.trim_start_matches('@'));
        let mentioned = |kind: &EntityKind| match kind {
            EntityKind::TextMention { user } => Some(user.id),
            _ => None,
        };
        Self {
            at: message.sent_at,
            author: message.sender.id,
            mentioned: message.entities.iter().filter_map(|entity| mentioned(&entity.kind)).collect(),
            lead: lead.and_then(name_token),
            named: words(head)
                .flat_map(|word| parts(word).chain([word]))
                .flat_map(pieces)
                .filter_map(name_token)
                .collect(),
            author_names: words(name)
                .next()
                .into_iter()
                .flat_map(pieces)
                .chain(username)
                .filter_map(name_token)
                .collect(),
            author_stems: [Some(name), username].into_iter().flatten().flat_map(stems_of_name).collect(),
            is_question: Languages::shipped().is_question(text),
            chars: text.chars().count(),
            vector,
            stems: stems(text),
            days: days_named(text, message.sent_at),
            calls_bot: text.len() < message.text.len(),
        }
    }

    pub fn has_stem(&self, stem: Token) -> bool {
        self.stems.binary_search(&stem).is_ok()
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let tokens = self.stems.len() + self.named.len() + self.author_names.len() + self.author_stems.len();
        size_of::<Self>() + size_of_val(&*self.vector) + tokens * size_of::<Token>() + size_of_val(&*self.mentioned)
    }
}

/// Returns the token of a word that may be a name; `None` for short words and for English stop words, which some
/// nicknames contain.
fn name_token(word: &str) -> Option<Token> {
    let lower = folded(word).to_lowercase();
    let least = if lower.contains(is_unspaced) { MIN_NAME_CHARS - 1 } else { MIN_NAME_CHARS };
    let is_name = lower.chars().count() >= least && !Languages::shipped().is_english_stop_word(&lower);
    is_name.then(|| token(&lower))
}

/// Removes the usernames of bots from a text, since they say nothing about its subject.
pub fn without_bots(text: &str) -> Cow<'_, str> {
    if !text.contains('@') || !text.split_whitespace().any(names_bot) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split_whitespace().filter(|word| !names_bot(word)).collect::<Vec<_>>().join(" "))
}

/// Key of a message: chat and message id. The id alone is ambiguous, since Telegram restarts ids when a chat becomes a
/// supergroup.
pub type MessageAddress = (ChatId, MessageId);

pub fn address(stored: &StoredMessage) -> MessageAddress {
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
