//! Collects the messages that a window is chosen from.

use std::collections::BTreeMap;

use crate::context::features::message::{MessageAddress, address};
use crate::context::features::rhythm::WINDOW;
use crate::context::history::History;
use chime_core::{MessageId, Origin, Seq, StoredMessage, Timestamp};

/// Maximum number of candidates older than the newest messages: an old anchor and the messages around it.
const OLDER: usize = 64;

/// Index into [`CandidateSet::messages`].
pub type Index = usize;

/// Fetched messages that may enter the window, each once, in order of time. The trigger, other chats and everything
/// after the trigger are excluded; the rest of the trigger's album is included.
pub struct CandidateSet<'a> {
    pub trigger: &'a StoredMessage,
    pub messages: Vec<&'a StoredMessage>,
    /// Indices of the messages in the trigger's own conversation.
    pub conversation: Vec<Index>,
    /// Indices of the messages that the picker scores, oldest first, at most [`WINDOW`].
    pub candidates: Vec<Index>,
    /// Number of candidates at the start of the list that are older than the newest messages. There are no gaps between
    /// the candidates after them. The number is 0 unless the trigger replies to an old message; only then are the
    /// cached antecedents invalid.
    pub older: usize,
    by_address: BTreeMap<MessageAddress, Index>,
}

impl<'a> CandidateSet<'a> {
    /// Builds the set from the history and from `found`, the messages found further back.
    pub fn new(history: &'a History, found: &[&'a StoredMessage]) -> Self {
        let trigger = &history.trigger;
        let parent = parent_address(trigger);
        let mut unique: BTreeMap<MessageAddress, &StoredMessage> = BTreeMap::new();
        let found = found.iter().copied();
        for candidate in history.recent.iter().chain(&history.linked).chain(found) {
            if may_enter(candidate, trigger) || Some(address(candidate)) == parent {
                let known = unique.entry(address(candidate)).or_insert(candidate);
                if known.message.origin == Origin::Snapshot {
                    *known = candidate;
                }
            }
        }
        let mut messages: Vec<&StoredMessage> =
            unique.into_values().filter(|m| m.chat == trigger.chat && address(m) != address(trigger)).collect();
        messages.sort_by_key(|m| order(m));

        let by_address: BTreeMap<MessageAddress, Index> =
            messages.iter().enumerate().map(|(place, m)| (address(m), place)).collect();
        let conversation: Vec<Index> =
            (0..messages.len()).filter(|place| messages[*place].conversation() == trigger.conversation()).collect();
        let anchor = parent.and_then(|parent| by_address.get(&parent).copied());
        let begin = history.recent.iter().map(order).min();
        let newest = conversation.partition_point(|place| begin.is_some_and(|begin| order(messages[*place]) < begin));
        let older = anchor.map_or_else(Vec::new, |anchor| nearest(&conversation[..newest], anchor));
        let room = WINDOW - older.len();
        let newest = newest.max(conversation.len().saturating_sub(room));
        let candidates = [older.as_slice(), &conversation[newest..]].concat();
        Self { trigger, messages, conversation, older: older.len(), candidates, by_address }
    }

    /// Returns the messages at the indices in `candidates`, oldest first.
    pub fn talk(&self) -> Vec<&'a StoredMessage> {
        self.candidates.iter().map(|place| self.messages[*place]).collect()
    }

    /// Returns the index of the message that the trigger replies to; `None` if there is no such message in the set.
    pub fn anchor(&self) -> Option<Index> {
        self.place(parent_address(self.trigger)?)
    }

    /// Returns the index of the message that the one at `place` replies to; `None` if there is no such message in the
    /// set.
    pub fn parent(&self, place: Index) -> Option<Index> {
        self.place(parent_address(self.messages[place])?)
    }

    pub fn sent_at(&self, place: Index) -> Timestamp {
        self.messages[place].message.sent_at
    }

    /// Returns the indices of the other messages in the same album as the message at `place`.
    pub fn album_mates(&self, place: Index) -> Vec<Index> {
        self.same_album(self.messages[place]).filter(|mate| *mate != place).collect()
    }

    /// Returns the indices of the messages in the same album as the trigger.
    pub fn trigger_mates(&self) -> Vec<Index> {
        self.same_album(self.trigger).collect()
    }

    fn same_album(&self, of: &StoredMessage) -> impl Iterator<Item = Index> {
        (0..self.messages.len()).filter(move |place| shares_album(self.messages[*place], of))
    }

    pub fn place_of(&self, stored: &StoredMessage) -> Option<Index> {
        self.place(address(stored))
    }

    fn place(&self, address: MessageAddress) -> Option<Index> {
        self.by_address.get(&address).copied()
    }
}

/// Returns the up to [`OLDER`] messages of `older` that are nearest to the anchor, oldest first.
fn nearest(older: &[Index], anchor: Index) -> Vec<Index> {
    let mut nearest = older.to_vec();
    nearest.sort_by_key(|place| (place.abs_diff(anchor), *place));
    nearest.truncate(OLDER);
    nearest.sort_unstable();
    nearest
}

fn may_enter(candidate: &StoredMessage, trigger: &StoredMessage) -> bool {
    order(candidate) < order(trigger) || shares_album(candidate, trigger)
}

fn shares_album(a: &StoredMessage, b: &StoredMessage) -> bool {
    a.message.album.is_some() && a.message.album == b.message.album && a.conversation() == b.conversation()
}

fn parent_address(stored: &StoredMessage) -> Option<MessageAddress> {
    Some((stored.message.chat, stored.message.reply_to?))
}

/// Returns the key by which messages are sorted in time. Telegram's dates are whole seconds, so ids decide within a
/// second.
fn order(stored: &StoredMessage) -> (Timestamp, MessageId, Seq) {
    (stored.message.sent_at, stored.message.id, stored.seq)
}
