//! Result of picking: the messages for one answer, each with its reason.

use std::collections::BTreeSet;

use crate::context::older_messages::rerank::Reranked;
use chime_core::{Chosen, MessageId, Omitted, Part, Reason, Seq, StoredMessage};

/// Messages for one answer in order of time, each with the reason for its selection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextWindow {
    /// Message that the trigger replies to, always among the entries; `None` if there is none or it is not stored.
    pub anchor: Option<MessageId>,
    /// `true` if the anchor must not be read: its author opted out of storage, or had the message deleted.
    pub anchor_withheld: bool,
    /// Part of the anchor that the author of the trigger quoted.
    pub quoted: Option<String>,
    /// Messages of the window in order of time. The trigger itself is not among them.
    pub entries: Vec<Entry>,
    /// Some messages that were considered and left out, with reasons, to be shown to a person.
    pub omitted: Vec<Omitted>,
    /// Numbers of the messages of the conversation that are not in the window, ascending: of the fetched ones, and of
    /// answers of the bot whose text is not kept.
    pub left_out: BTreeSet<Seq>,
    /// Lowest message number of the part that was fetched without gaps; `None` if that is the whole conversation. How
    /// many messages before it were left out is unknown.
    pub known_from: Option<Seq>,
    /// Score of the stretch that fits the question best, 0 if there is none; `None` if the trigger has no question to
    /// search for.
    pub best_match: Option<f64>,
    /// `true` if the trigger starts a new subject, about which nothing older was found either.
    pub is_new: bool,
    /// Ids of all candidates, the likeliest first.
    pub ranked: Vec<MessageId>,
    /// Messages older than all candidates that the search found, the likeliest first. Not all of them are in the
    /// window.
    pub further_back: Vec<Reranked>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub message: StoredMessage,
    pub reason: Reason,
    /// Estimate, from 0 to 1, of how surely the message belongs in the window. Within a part, messages with a high
    /// score are packed first.
    pub score: f64,
    /// Text of the message as the prompt shows it, shortened in the middle if it is long.
    pub shown: String,
}

impl ContextWindow {
    /// Returns the entries that form the subject of the trigger; the others are surroundings.
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
