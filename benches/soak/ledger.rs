//! What was said that must come to something, as whoever said it knows.

use std::collections::{HashMap, HashSet};

use chime_core::{ChatId, MessageId, Timestamp, UserId};

/// A message of a chat.
pub type Id = (ChatId, MessageId);

/// What must come of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// An answer or an apology.
    Answer,
    /// The same, to this tag without words or to its author's question right after it.
    AnswerToEither,
    /// The same, if the message replied to is one that the daemon knows as an answer of its own.
    AnswerIfKnown(MessageId),
    /// A reaction, to thanks in private.
    Reaction,
    /// A reaction to thanks, if the message replied to is a known answer.
    ReactionIfKnown(MessageId),
    /// The words of a command.
    Words,
    OptOut,
    OptIn,
    /// That this message is forgotten.
    Forget(MessageId),
    /// Too old: counted in a line.
    Counted,
}

#[derive(Debug, Clone, Copy)]
pub struct Said {
    pub id: Id,
    pub from: UserId,
    pub due: Due,
    /// When the trigger was there: of a tag that was added by an edit, when that was.
    pub at: Timestamp,
}

impl Said {
    /// Whether it is for the model.
    pub fn is_ask(&self) -> bool {
        matches!(self.due, Due::Answer | Due::AnswerToEither | Due::AnswerIfKnown(_))
    }
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub said: Vec<Said>,
    places: HashMap<Id, usize>,
    /// What the bot replied to.
    replied: HashSet<Id>,
}

impl Ledger {
    pub fn note(&mut self, said: Said) {
        self.places.insert(said.id, self.said.len());
        self.said.push(said);
    }

    pub fn find(&self, id: Id) -> Option<&Said> {
        self.said.get(*self.places.get(&id)?)
    }

    pub fn note_reply(&mut self, to: Id) {
        self.replied.insert(to);
    }

    pub fn is_replied(&self, to: Id) -> bool {
        self.replied.contains(&to)
    }
}
