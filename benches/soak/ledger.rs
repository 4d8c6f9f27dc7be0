//! Record of sent messages with the outcome that each must have.

use std::collections::{HashMap, HashSet};

use chime_core::{ChatId, MessageId, Timestamp, UserId};

/// A message of a chat.
pub type Id = (ChatId, MessageId);

/// Expected outcome of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// An answer or an apology.
    Answer,
    /// An answer or apology, to this mention without words or to its author's question after it.
    AnswerToEither,
    /// An answer or apology, if the daemon knows the message replied to as its own answer.
    AnswerIfKnown(MessageId),
    /// A reaction, to thanks in private.
    Reaction,
    /// A reaction to thanks, if the message replied to is a known answer.
    ReactionIfKnown(MessageId),
    /// The reply to a command.
    Words,
    OptOut,
    OptIn,
    /// Forgetting of this message.
    Forget(MessageId),
    /// Counted in a notice, since it is too old.
    Counted,
}

#[derive(Debug, Clone, Copy)]
pub struct Said {
    pub id: Id,
    pub from: UserId,
    pub due: Due,
    /// Time of the trigger; for a mention added by an edit, the time of the edit.
    pub at: Timestamp,
}

impl Said {
    /// Returns `true` if the model must answer it.
    pub fn is_ask(&self) -> bool {
        matches!(self.due, Due::Answer | Due::AnswerToEither | Due::AnswerIfKnown(_))
    }
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub said: Vec<Said>,
    places: HashMap<Id, usize>,
    /// Messages that the bot replied to.
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
