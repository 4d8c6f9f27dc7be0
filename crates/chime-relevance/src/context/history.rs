//! Input of the picker: everything that was fetched for a trigger.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::candidate_features::CandidateFeatures;
use crate::context::features::rhythm::WINDOW;
use crate::context::open_question::OpenQuestion;
use chime_core::{Chosen, MessageId, Seq, StoredMessage};

/// A trigger and the messages before it.
#[derive(Debug, Clone)]
pub struct History {
    pub trigger: StoredMessage,
    /// `true` if the message that the trigger replies to must not be read, so that it is missing here.
    pub anchor_withheld: bool,
    /// Newest messages of the trigger's conversation before it, oldest first, without gaps.
    pub recent: Vec<StoredMessage>,
    /// Messages of the same chat, of any age, that were reached by reply links, and the neighbours of an old anchor.
    pub linked: Vec<StoredMessage>,
    /// Text of the trigger without the bot's name.
    pub ask: String,
    /// `true` if the trigger tags the bot; `false` if it only continues the conversation.
    pub is_tag: bool,
    /// Focus that was chosen in advance, so that the picker does not run: a member asked for this subject, or the
    /// question names the time or the member whose messages it wants.
    pub given: Option<Vec<Chosen>>,
    /// Question of the trigger, if it stands alone, so that the whole conversation is searched for its answer.
    pub question: Option<OpenQuestion>,
    /// Sources of an earlier answer of the bot, which the trigger may continue.
    pub sources: Option<Sources>,
    pub evidence: Arc<CandidateFeatures>,
}

impl History {
    /// Returns the lowest number in `recent`; `None` if that is the whole conversation (fewer than [`WINDOW`]
    /// messages). The lowest number and not the earliest time counts, since an old message that is known only from a
    /// reply got its number when the reply arrived.
    pub fn known_from(&self) -> Option<Seq> {
        self.recent.iter().map(|stored| stored.seq).min().filter(|_| self.recent.len() >= WINDOW)
    }

    /// Builds a history without features, in which the whole text of the trigger is the question.
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

/// Messages of the oldest part of a long thread, which a summary replaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summarized {
    pub messages: BTreeSet<Seq>,
    /// Number of tokens of the summary, which count towards the window's budget.
    pub tokens: usize,
}

/// Messages that an answer of the bot was based on, without those that must no longer be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Id of the message that contains the answer.
    pub of: MessageId,
    /// Number of each message; `true` if the answer cites it.
    pub used: Vec<(Seq, bool)>,
}
