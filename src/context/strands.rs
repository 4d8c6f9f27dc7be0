//! The strand that a trigger belongs to: links, worlds, and the set worth taking.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// Works out what is missing of `evidence` for the candidates of a conversation, oldest first; gives what is new.
pub fn complete(conversation: &[&StoredMessage], evidence: &mut Evidence) -> Vec<(ChatId, MessageId)> {
    let first = conversation.len().saturating_sub(WINDOW);
    let missing: Vec<usize> = (first..conversation.len())
        .filter(|place| !evidence.antecedents.contains_key(&address(conversation[*place])))
        .collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let speeches: Vec<Speech> = conversation.iter().map(|stored| read(stored)).collect();
    let turns: Vec<Turn<'_>> = conversation
        .iter()
        .zip(&speeches)
        .map(|(stored, speech)| Turn::new(speech, vector(stored, evidence)))
        .collect();
    let rows: Vec<_> = missing
        .into_iter()
        .map(|place| (address(conversation[place]), Past { turns: &turns[..place] }.antecedents(turns[place], false)))
        .collect();
    let fresh = rows.iter().map(|(address, _)| *address).collect();
    evidence.antecedents.extend(rows);
    fresh
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

/// Fingerprints of the last [`WINDOW`] messages of a conversation, each with the messages it is scored against. The
/// same fingerprint means the same antecedents: texts change only with an edit or with the row itself.
pub fn fingerprints(conversation: &[&StoredMessage]) -> Vec<i64> {
    let marks: Vec<u64> = conversation.iter().map(|stored| mark(stored)).collect();
    let first = marks.len().saturating_sub(WINDOW);
    (first..marks.len())
        .map(|place| {
            let own = marks[place].rotate_left(1);
            let past = &marks[place.saturating_sub(WINDOW)..place];
            past.iter().fold(own, |sum, mark| sum ^ mark).cast_signed()
        })
        .collect()
}

fn mark(stored: &StoredMessage) -> u64 {
    let mut hasher = DefaultHasher::new();
    let message = &stored.message;
    (message.chat, message.id, message.edited_at, message.origin.as_str(), message.text.len()).hash(&mut hasher);
    hasher.finish()
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
