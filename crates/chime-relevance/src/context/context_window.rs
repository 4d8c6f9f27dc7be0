//! The result of picking: the messages that one answer is given, each with its reason.

use std::collections::BTreeSet;

use crate::context::retrieval::rerank::Reranked;
use chime_core::{Chosen, MessageId, Omitted, Part, Reason, Seq, StoredMessage};

/// The messages that one answer is given, in order of time, each with the reason why it is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextWindow {
    /// The message that the trigger replies to. Always among the entries.
    pub anchor: Option<MessageId>,
    /// The trigger replies to words that may not be read: their author opted out, or had them forgotten.
    pub anchor_withheld: bool,
    /// The part of the anchor that the member marked.
    pub quoted: Option<String>,
    /// Never the trigger itself.
    pub entries: Vec<Entry>,
    /// The nearest of the messages that were considered and left out, for people to read.
    pub omitted: Vec<Omitted>,
    /// Every message of the conversation that is known and left out, ascending.
    pub left_out: BTreeSet<Seq>,
    /// Messages older than this one were not all fetched, so how many of them are left out is not known.
    pub known_from: Option<Seq>,
    /// Everything that was considered, the likeliest first.
    pub ranked: Vec<MessageId>,
    /// Where two matters are about as likely: which one is taken, and what belongs to the other.
    /// Messages found further back, the likeliest first, accepted or not.
    pub further_back: Vec<Reranked>,
}

/// A message of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub message: StoredMessage,
    pub reason: Reason,
    /// How likely it belongs there, 0 to 1.
    pub score: f64,
    /// What the message says, perhaps shortened in the middle.
    pub shown: String,
}

impl ContextWindow {
    /// The messages that are picked as the matter of the trigger.
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
