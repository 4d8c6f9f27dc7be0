//! What the driver fetched for a trigger.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::evidence::Evidence;
use crate::context::features::rhythm::WINDOW;
use crate::context::open_question::OpenQuestion;
use chime_core::{Chosen, MessageId, Seq, StoredMessage};

/// A trigger, and what came before it.
#[derive(Debug, Clone)]
pub struct History {
    pub trigger: StoredMessage,
    /// The trigger replies to words that may not be read, so that they are not among the messages.
    pub anchor_withheld: bool,
    /// The newest messages of the conversation before the trigger, oldest first, without gaps.
    pub recent: Vec<StoredMessage>,
    /// Messages of the same chat and of any age that reply links lead to, and the neighbours of an old anchor.
    pub linked: Vec<StoredMessage>,
    /// The trigger's words without the bot's name.
    pub ask: String,
    /// Whether the trigger tags the bot, rather than going on with the talk.
    pub is_tag: bool,
    /// The focus, where nothing is left to pick: it was picked before and a member has asked for it now, or the ask names the
    /// time or the member whose messages it wants.
    pub given: Option<Vec<Chosen>>,
    /// The trigger's question, where its answer may stand anywhere in the conversation.
    pub question: Option<OpenQuestion>,
    /// The sources of an earlier answer of the bot that the trigger may be about.
    pub sources: Option<Sources>,
    pub evidence: Arc<Evidence>,
}

impl History {
    /// The oldest message that was fetched, where older ones may exist; none where the talk was fetched from its beginning.
    /// By number and not by time: an old message that is known only from a reply to it got its number with that reply.
    pub fn known_from(&self) -> Option<Seq> {
        self.recent.iter().map(|stored| stored.seq).min().filter(|_| self.recent.len() >= WINDOW)
    }

    /// A history without evidence; the whole text of the trigger is the ask.
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

/// The oldest part of a long strand, for which a summary stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarized {
    pub messages: BTreeSet<Seq>,
    /// What the summary takes of the window's budget.
    pub tokens: usize,
}

/// The messages that an answer of the bot was given, as far as they may still be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// The message that carries the answer.
    pub of: MessageId,
    /// Each with whether the answer cites it.
    pub used: Vec<(Seq, bool)>,
}
