//! What the driver fetched for a trigger.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::evidence::Evidence;
use crate::context::features::message::address;
use crate::context::features::rhythm::WINDOW;
use crate::domain::{Chosen, MessageId, Seq, StoredMessage};

/// A trigger, and what came before it.
#[derive(Debug, Clone)]
pub struct History {
    pub trigger: StoredMessage,
    /// The trigger replies to words that may not be read, so that they are not among the messages.
    pub anchor_withheld: bool,
    /// The newest messages of the conversation up to and without the trigger, oldest first. Unbroken: what is
    /// missing between two of these is taken not to exist.
    pub recent: Vec<StoredMessage>,
    /// Messages of the same chat and of any age that reply links lead to, and the neighbours of an old anchor.
    pub linked: Vec<StoredMessage>,
    /// The trigger's words without the bot's name.
    pub ask: String,
    /// Whether the trigger tags the bot, rather than going on with the talk.
    pub is_tag: bool,
    /// What the window is to be about, where that was picked before and is asked for now.
    pub given: Option<Vec<Chosen>>,
    /// What an earlier answer of the bot rests on, which the trigger may be about.
    pub sources: Option<Sources>,
    pub evidence: Arc<Evidence>,
}

impl History {
    /// Before this message more may have been said than was fetched; none where the talk was fetched from its beginning on.
    /// By the number and not by the time: what is known of an old message from a reply to it was numbered when it was met.
    pub fn known_from(&self) -> Option<Seq> {
        self.recent.iter().map(|stored| stored.seq).min().filter(|_| self.recent.len() >= WINDOW)
    }

    /// The vectors of the newest messages, where the model at hand made them; ascending by message.
    pub fn vectors(&self) -> Vec<(Seq, &[f32])> {
        if self.evidence.embedder.is_none() {
            return Vec::new();
        }
        let vector = |stored: &StoredMessage| Some(self.evidence.readings.get(&address(stored))?.vector.as_slice());
        let mut vectors: Vec<(Seq, &[f32])> =
            self.recent.iter().filter_map(|stored| Some((stored.seq, vector(stored)?))).collect();
        vectors.sort_unstable_by_key(|(seq, _)| *seq);
        vectors
    }

    /// A history with nothing known beside the messages; the whole text is the ask.
    pub fn new(trigger: StoredMessage, recent: Vec<StoredMessage>, linked: Vec<StoredMessage>) -> Self {
        let ask = trigger.message.text.clone();
        let evidence = Arc::default();
        Self {
            trigger,
            anchor_withheld: false,
            recent,
            linked,
            ask,
            is_tag: true,
            given: None,
            sources: None,
            evidence,
        }
    }
}

/// The oldest part of a long strand, for which a summary stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarized {
    pub messages: BTreeSet<Seq>,
    /// What the summary takes of the window's budget.
    pub tokens: usize,
}

/// What an answer of the bot was given, as far as it may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The message that carries the answer.
    pub of: MessageId,
    /// Each with whether the answer cites it.
    pub used: Vec<(Seq, bool)>,
}
