//! The result of picking: the messages for one answer, each with its reason.

use std::collections::BTreeSet;

use crate::context::retrieval::rerank::Reranked;
use chime_core::{Chosen, MessageId, Omitted, Part, Reason, Seq, StoredMessage};

/// The messages for one answer in order of time, each with the reason for its selection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextWindow {
    /// Message that the trigger replies to. Always among the entries.
    pub anchor: Option<MessageId>,
    /// `true` if the anchor may not be read: its author opted out, or had it forgotten.
    pub anchor_withheld: bool,
    /// The part of the anchor that the member quoted.
    pub quoted: Option<String>,
    /// Never contains the trigger itself.
    pub entries: Vec<Entry>,
    /// The nearest messages that were considered and left out, for display.
    pub omitted: Vec<Omitted>,
    /// Every known message of the conversation that was left out, ascending.
    pub left_out: BTreeSet<Seq>,
    /// First message of the part that was fetched completely; the number of older ones left out is unknown.
    pub known_from: Option<Seq>,
    /// All candidates, the likeliest first.
    pub ranked: Vec<MessageId>,
    /// Messages found further back, the likeliest first, accepted or not.
    pub further_back: Vec<Reranked>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub message: StoredMessage,
    pub reason: Reason,
    /// Probability that it belongs there, 0 to 1.
    pub score: f64,
    /// Text of the message, shortened in the middle if long.
    pub shown: String,
}

impl ContextWindow {
    /// Returns the messages that form the subject of the trigger.
    pub fn focus(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.part() == Part::Focus)
    }

    pub fn anchor_entry(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.reason.is_anchor())
    }

    pub fn chosen(&self) -> Vec<Chosen> {
        self.entries
            .iter()
            .map(|entry| Chosen {
                seq: entry.message.seq,
                id: entry.message.message.id,
                reason: entry.reason,
                score: entry.score,
            })
            .collect()
    }
}

impl Entry {
    pub fn part(&self) -> Part {
        self.reason.part()
    }
}
