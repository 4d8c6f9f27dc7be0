//! The strand that a trigger belongs to: links, worlds, and the set worth taking.

use std::collections::HashMap;

use crate::context::choose::{Taken, best_set};
use crate::context::links::{Antecedents, Past, Speech, Turn, WINDOW};
use crate::context::worlds::Worlds;
use crate::domain::{ChatId, MessageId, StoredMessage};

/// A trigger that more likely than this starts something new is given nothing earlier.
const STARTS_NEW: f32 = 0.9;

/// What is known beside the messages themselves. All of it may be missing: then it is worked out, or done without.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// Embeddings of unit length, of whatever texts have one.
    pub vectors: HashMap<(ChatId, MessageId), Vec<f32>>,
    /// Antecedents worked out before, from the text alone: reply links are added here.
    pub antecedents: HashMap<(ChatId, MessageId), Antecedents>,
}

/// A trigger as the scorer reads it.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    pub message: &'a StoredMessage,
    /// Its words without the bot's name.
    pub text: &'a str,
    /// Whether it says nothing of its own.
    pub bare: bool,
}

/// The candidates that the trigger is about, best first, at most `most`. `conversation` is oldest first; of it the last
/// [`WINDOW`] are candidates, and what is before them is their past.
pub fn pick(asking: Asking<'_>, conversation: &[&StoredMessage], evidence: &Evidence, most: usize) -> Vec<Taken> {
    let speeches: Vec<Speech> = conversation.iter().map(|stored| read(stored)).collect();
    let turns: Vec<Turn<'_>> = conversation
        .iter()
        .zip(&speeches)
        .map(|(stored, speech)| Turn::new(speech, vector(stored, evidence)))
        .collect();
    let first = turns.len().saturating_sub(WINDOW);
    let rows: Vec<Antecedents> = (first..turns.len())
        .map(|place| replying(row(conversation, &turns, place, evidence), conversation, place))
        .collect();
    let ids = conversation[first..].iter().map(|stored| address(stored));
    let worlds = Worlds::draw(ids.zip(&rows).collect::<Vec<_>>());

    let speech = Speech::read(&asking.message.message, asking.text);
    let turn = Turn::new(&speech, vector(asking.message, evidence));
    let own = Past { turns: &turns[first..] }.antecedents(turn, asking.bare);
    let own = match asking.message.message.reply_to.and_then(|id| distance_of(id, &conversation[first..])) {
        Some(distance) => own.with_reply(distance),
        None => own,
    };
    if own.starts_new() >= STARTS_NEW {
        return Vec::new();
    }
    let count = rows.len();
    let mut taken = best_set(&worlds.hypotheses(&own), count, most);
    for one in &mut taken {
        one.place += first;
    }
    taken
}

/// Antecedents of every message of a conversation (oldest first), from the text alone: what is worth keeping.
pub fn antecedent_rows(
    conversation: &[StoredMessage],
    evidence: &Evidence,
) -> HashMap<(ChatId, MessageId), Antecedents> {
    let speeches: Vec<Speech> = conversation.iter().map(read).collect();
    let turns: Vec<Turn<'_>> = conversation
        .iter()
        .zip(&speeches)
        .map(|(stored, speech)| Turn::new(speech, vector(stored, evidence)))
        .collect();
    let rows = (0..turns.len()).map(|place| Past { turns: &turns[..place] }.antecedents(turns[place], false));
    conversation.iter().map(address).zip(rows).collect()
}

/// Antecedents of the message at `place`, from the text alone.
fn row(conversation: &[&StoredMessage], turns: &[Turn<'_>], place: usize, evidence: &Evidence) -> Antecedents {
    match evidence.antecedents.get(&address(conversation[place])) {
        Some(known) => known.clone(),
        None => Past { turns: &turns[..place] }.antecedents(turns[place], false),
    }
}

/// The same with its reply link, where its parent is among the conversation.
fn replying(antecedents: Antecedents, conversation: &[&StoredMessage], place: usize) -> Antecedents {
    let parent = conversation[place].message.reply_to;
    match parent.and_then(|id| distance_of(id, &conversation[..place])) {
        Some(distance) => antecedents.with_reply(distance),
        None => antecedents,
    }
}

/// How far back a message is, 1 being the last.
fn distance_of(id: MessageId, past: &[&StoredMessage]) -> Option<usize> {
    past.iter().rev().position(|stored| stored.message.id == id).map(|back| back + 1)
}

fn read(stored: &StoredMessage) -> Speech {
    Speech::read(&stored.message, &stored.message.text)
}

fn vector<'a>(stored: &StoredMessage, evidence: &'a Evidence) -> &'a [f32] {
    evidence.vectors.get(&address(stored)).map_or(&[], Vec::as_slice)
}

fn address(stored: &StoredMessage) -> (ChatId, MessageId) {
    (stored.message.chat, stored.message.id)
}
