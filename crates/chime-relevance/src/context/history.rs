//! Everything fetched for a trigger.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::features::rhythm::WINDOW;
use crate::context::open_question::OpenQuestion;
use crate::context::precomputed::PrecomputedFeatures;
use chime_core::{Chosen, MessageId, Seq, StoredMessage};

/// A trigger and the messages before it.
#[derive(Debug, Clone)]
pub struct History {
    pub trigger: StoredMessage,
    /// `true` if the message that the trigger replies to may not be read and is therefore missing.
    pub anchor_withheld: bool,
    /// Newest messages of the conversation before the trigger, oldest first, without gaps.
    pub recent: Vec<StoredMessage>,
    /// Messages of the same chat, of any age, that reply links lead to, and the neighbours of an old anchor.
    pub linked: Vec<StoredMessage>,
    /// Text of the trigger without the bot's name.
    pub ask: String,
    /// `true` if the trigger tags the bot; `false` if it only continues the conversation.
    pub is_tag: bool,
    /// Focus chosen in advance, so that nothing is picked: a member has asked for this subject, or the question names
    /// the time or the member whose messages it wants.
    pub given: Option<Vec<Chosen>>,
    /// Question of the trigger, if its answer may be anywhere in the conversation.
    pub question: Option<OpenQuestion>,
    /// Sources of an earlier answer of the bot that the trigger may be about.
    pub sources: Option<Sources>,
    pub evidence: Arc<PrecomputedFeatures>,
}

impl History {
    /// Returns the oldest message that was fetched; `None` if the history is complete. By number and not by time, since
    /// an old message that is known only from a reply got its number with that reply.
    pub fn known_from(&self) -> Option<Seq> {
        self.recent.iter().map(|stored| stored.seq).min().filter(|_| self.recent.len() >= WINDOW)
    }

    /// Builds a history without evidence; the whole text of the trigger is the question.
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
            question: None,
            sources: None,
            evidence,
        }
    }
}

/// Oldest part of a long thread, which a summary replaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarized {
    pub messages: BTreeSet<Seq>,
    /// Tokens of the window's budget that the summary takes.
    pub tokens: usize,
}

/// Messages that an answer of the bot was based on, as far as they may still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Message that contains the answer.
    pub of: MessageId,
    /// Each message, with `true` if the answer cites it.
    pub used: Vec<(Seq, bool)>,
}
