//! The messages that a window may be chosen from.

use std::collections::BTreeMap;

use crate::context::beyond::Bridged;
use crate::context::window::History;
use crate::domain::{ChatId, MessageId, Origin, Seq, StoredMessage, Timestamp};

/// An index into [`Pool::messages`].
pub type Place = usize;

/// Everything the driver fetched that may enter the window: each message once, in order of time.
///
/// Without the trigger, without other chats, and without what came after the trigger (its own album aside).
pub struct Pool<'a> {
    pub trigger: &'a StoredMessage,
    pub messages: Vec<&'a StoredMessage>,
    /// The part of the pool in the trigger's own conversation.
    pub conversation: Vec<Place>,
    by_address: BTreeMap<Address, Place>,
    replies: BTreeMap<Place, Vec<Place>>,
}

/// Message ids start anew when a chat becomes a supergroup, so the id alone does not name a message.
type Address = (ChatId, MessageId);

impl<'a> Pool<'a> {
    /// `bridged` comes from further back than the history.
    pub fn new(history: &'a History, bridged: &'a [Bridged]) -> Self {
        let trigger = &history.trigger;
        let parent = parent_address(trigger);
        let mut unique: BTreeMap<Address, &StoredMessage> = BTreeMap::new();
        let bridged = bridged.iter().map(|one| &one.message);
        for candidate in history.recent.iter().chain(&history.linked).chain(bridged) {
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

        let by_address: BTreeMap<Address, Place> =
            messages.iter().enumerate().map(|(place, m)| (address(m), place)).collect();
        let mut replies: BTreeMap<Place, Vec<Place>> = BTreeMap::new();
        for (place, message) in messages.iter().enumerate() {
            if let Some(parent) = parent_address(message).and_then(|parent| by_address.get(&parent)) {
                replies.entry(*parent).or_default().push(place);
            }
        }
        let conversation =
            (0..messages.len()).filter(|place| messages[*place].conversation() == trigger.conversation()).collect();
        Self { trigger, messages, conversation, by_address, replies }
    }

    /// The messages of the trigger's own conversation, oldest first.
    pub fn talk(&self) -> Vec<&'a StoredMessage> {
        self.conversation.iter().map(|place| self.messages[*place]).collect()
    }

    /// The message that the trigger replies to, if there is a row for it.
    pub fn anchor(&self) -> Option<Place> {
        self.place(parent_address(self.trigger)?)
    }

    /// The message that the one at `place` replies to.
    pub fn parent(&self, place: Place) -> Option<Place> {
        self.place(parent_address(self.messages[place])?)
    }

    /// The messages that reply to the one at `place`, oldest first.
    pub fn replies(&self, place: Place) -> &[Place] {
        self.replies.get(&place).map_or(&[], Vec::as_slice)
    }

    /// When the message at `place` was sent.
    pub fn sent_at(&self, place: Place) -> Timestamp {
        self.messages[place].message.sent_at
    }

    /// The other messages of the album at `place`.
    pub fn album_mates(&self, place: Place) -> Vec<Place> {
        self.same_album(self.messages[place]).filter(|mate| *mate != place).collect()
    }

    /// The messages that were posted in one album with the trigger.
    pub fn trigger_mates(&self) -> Vec<Place> {
        self.same_album(self.trigger).collect()
    }

    fn same_album(&self, of: &StoredMessage) -> impl Iterator<Item = Place> {
        (0..self.messages.len()).filter(move |place| shares_album(self.messages[*place], of))
    }

    /// Where a message is, if it is here.
    pub fn place_of(&self, stored: &StoredMessage) -> Option<Place> {
        self.place(address(stored))
    }

    fn place(&self, address: Address) -> Option<Place> {
        self.by_address.get(&address).copied()
    }
}

fn may_enter(candidate: &StoredMessage, trigger: &StoredMessage) -> bool {
    order(candidate) < order(trigger) || shares_album(candidate, trigger)
}

fn shares_album(a: &StoredMessage, b: &StoredMessage) -> bool {
    a.message.album.is_some() && a.message.album == b.message.album && a.conversation() == b.conversation()
}

fn address(stored: &StoredMessage) -> Address {
    (stored.message.chat, stored.message.id)
}

fn parent_address(stored: &StoredMessage) -> Option<Address> {
    Some((stored.message.chat, stored.message.reply_to?))
}

/// Order of time. Telegram's dates are whole seconds, so ids decide within one.
fn order(stored: &StoredMessage) -> (Timestamp, MessageId, Seq) {
    (stored.message.sent_at, stored.message.id, stored.seq)
}
