//! What is read off messages before anything is chosen.

use std::borrow::Cow;
use std::sync::Arc;

use crate::context::links::{Antecedents, LinkModel, Past, Speech, Turn, WINDOW};
use crate::context::matters::stems;
use crate::context::strands::Foreseen;
use crate::context::token::{Quick, Token};
use crate::domain::{ChatId, Message, MessageId, StoredMessage};

/// What one message says by itself, whoever asks: worked out once, good for as long as the message stays the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    pub speech: Speech,
    /// Of unit length; empty where the embedding model does not know the text.
    pub vector: Vec<f32>,
    /// Ascending, each once.
    pub stems: Vec<Token>,
}

impl Reading {
    /// Reads `message`, `text` being its words without the names of bots.
    pub fn of(message: &Message, text: &str, vector: Vec<f32>) -> Self {
        Self { speech: Speech::read(message, text), vector, stems: stems(text) }
    }

    /// What it takes in memory, near enough.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.vector) + size_of_val(&*self.stems) + self.speech.bytes()
    }

    pub fn turn(&self) -> Turn<'_> {
        Turn::new(&self.speech, &self.vector)
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

/// What is known beside the messages themselves. All of it may be missing: then it is worked out, or done without.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    pub readings: Quick<Address, Arc<Reading>>,
    /// Antecedents from the text alone: reply links are added where they are used.
    pub antecedents: Quick<Address, Arc<Antecedents>>,
    /// Ids of the messages right before the oldest candidate, oldest first: where replies may lead to.
    pub earlier: Vec<MessageId>,
    /// What the messages are about, if the last of them are those that it was worked out of.
    pub foreseen: Option<Arc<Foreseen>>,
}

impl Evidence {
    /// What was read off a message; without a vector where nothing was.
    pub fn reading(&self, stored: &StoredMessage) -> Arc<Reading> {
        match self.readings.get(&address(stored)) {
            Some(reading) => Arc::clone(reading),
            None => Arc::new(Reading::of(&stored.message, &without_bots(&stored.message.text), Vec::new())),
        }
    }
}

/// Antecedents of the message at `place` among `readings` (oldest first), from the text alone: what is worth keeping.
pub fn antecedents_at(readings: &[Arc<Reading>], place: usize) -> Antecedents {
    antecedents_by(LinkModel::shipped(), readings, place)
}

/// The same by another table.
pub fn antecedents_by(model: &LinkModel, readings: &[Arc<Reading>], place: usize) -> Antecedents {
    let past: Vec<Turn<'_>> =
        readings[place.saturating_sub(WINDOW)..place].iter().map(|reading| reading.turn()).collect();
    Past::of(&past, readings[place].turn()).antecedents(model, false).kept()
}

/// Antecedents of every message of a conversation (oldest first), from the text alone.
pub fn antecedent_rows(
    conversation: &[StoredMessage],
    evidence: &Evidence,
    links: &LinkModel,
) -> Quick<Address, Arc<Antecedents>> {
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let rows = (0..readings.len()).map(|place| Arc::new(antecedents_by(links, &readings, place)));
    conversation.iter().map(address).zip(rows).collect()
}

/// Fingerprints of messages, each with the up to [`WINDOW`] before it that it is scored against. The same fingerprint
/// means the same antecedents. `marks` are those of the messages, oldest first; of the first `earlier` none is made.
pub fn fingerprints(marks: &[u64], earlier: usize) -> Vec<i64> {
    let mut sum = 0;
    // Sums up to each place: what is between two of them is their difference.
    let sums: Vec<u64> = std::iter::once(0)
        .chain(marks.iter().map(|mark| {
            sum ^= mark;
            sum
        }))
        .collect();
    (earlier..marks.len())
        .map(|place| {
            let past = sums[place] ^ sums[place.saturating_sub(WINDOW)];
            (past ^ marks[place].rotate_left(1)).cast_signed()
        })
        .collect()
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

    #[test]
    fn a_fingerprint_is_of_the_message_and_the_window_before_it() {
        let marks: Vec<u64> = (1..=WINDOW as u64 + 2).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let all = fingerprints(&marks, 0);
        assert_eq!(fingerprints(&marks, 5), all[5..], "whatever is asked for");
        assert_eq!(fingerprints(&marks[1..], WINDOW + 1), [] as [i64; 0]);
        assert_eq!(fingerprints(&marks[1..], WINDOW), all[WINDOW + 1..], "what is further back does not matter");
        let mut edited = marks.clone();
        edited[1] ^= 1;
        let after = fingerprints(&edited, 0);
        assert_eq!(after[0], all[0]);
        assert!((1..=WINDOW + 1).all(|place| after[place] != all[place]), "it and all that follow within the window");
    }
}
