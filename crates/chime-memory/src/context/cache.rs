//! LRU cache by conversation for messages, features, reply distributions and threads, bounded in bytes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::newest::Newest;
use chime_core::{Conversation, Seq, StoredMessage};
use chime_relevance::context::features::message::{MessageAddress, MessageFeatures, address};
use chime_relevance::context::features::token::Quick;
use chime_relevance::context::replies::antecedents::Antecedents;
use chime_relevance::context::strands::SampledStrands;
use chime_store::chats::Revision;
use chime_store::marks::Mark;

/// Capacity for features, in bytes: enough for fifty conversations. A message takes about 1 KiB, most of it its vector;
/// one of 4,000 characters takes ten times as much.
pub const ROOM: usize = 13 * 1024 * 1024;

/// Features of a message, valid while its mark is the same.
#[derive(Debug, Clone)]
pub struct Known {
    pub mark: u64,
    pub reading: Arc<MessageFeatures>,
    /// Distribution over antecedents, with the fingerprint of the messages that it was scored against.
    pub row: Option<(i64, Arc<Antecedents>)>,
}

/// Features of the newest messages of a conversation.
#[derive(Debug, Clone, Default)]
pub struct Talk {
    pub known: Quick<MessageAddress, Known>,
    /// Threads, with the fingerprint of the messages that they were sampled from.
    pub sampled: Option<(u64, Arc<SampledStrands>)>,
}

/// Capacity for messages, in bytes: of all conversations (again about fifty) and of one. A conversation above its limit
/// is not cached.
const MESSAGES_ROOM: usize = 7 * 1024 * 1024;
const MESSAGES_OF_ONE: usize = 512 * 1024;

#[derive(Debug, Default)]
pub struct Cache {
    talks: HashMap<Conversation, Slot>,
    newest: HashMap<Conversation, (Newest, u64)>,
    /// Logical clock: counts uses.
    now: u64,
}

#[derive(Debug)]
struct Slot {
    talk: Arc<Talk>,
    used: u64,
    bytes: usize,
}

impl Cache {
    /// Returns the entry of a conversation, or an empty one.
    pub fn talk(&mut self, conversation: Conversation) -> Arc<Talk> {
        self.now += 1;
        let slot = self.talks.get_mut(&conversation);
        slot.map_or_else(Arc::default, |slot| {
            slot.used = self.now;
            Arc::clone(&slot.talk)
        })
    }

    /// Replaces the entry of a conversation and evicts the least recently used ones beyond `room` bytes.
    pub fn put(&mut self, conversation: Conversation, talk: Arc<Talk>, room: usize) {
        let bytes = talk.known.values().map(|known| known.reading.bytes()).sum();
        self.now += 1;
        self.talks.insert(conversation, Slot { talk, used: self.now, bytes });
        while self.bytes() > room {
            let oldest = self.talks.iter().min_by_key(|(_, slot)| slot.used).map(|(conversation, _)| *conversation);
            let Some(oldest) = oldest else { break };
            self.talks.remove(&oldest);
        }
    }

    /// Stores the threads of a conversation, if it has an entry.
    pub fn put_strands(&mut self, conversation: Conversation, fingerprint: u64, strands: SampledStrands) {
        if let Some(slot) = self.talks.get_mut(&conversation) {
            Arc::make_mut(&mut slot.talk).sampled = Some((fingerprint, Arc::new(strands)));
        }
    }

    /// Removes the newest messages of a conversation. The caller updates them and puts them back.
    pub fn take_newest(&mut self, conversation: Conversation) -> Option<Newest> {
        self.newest.remove(&conversation).map(|(newest, _)| newest)
    }

    pub fn put_newest(&mut self, conversation: Conversation, newest: Newest) {
        if newest.bytes() > MESSAGES_OF_ONE {
            return;
        }
        self.now += 1;
        self.newest.insert(conversation, (newest, self.now));
        while self.newest.values().map(|(newest, _)| newest.bytes()).sum::<usize>() > MESSAGES_ROOM {
            let oldest = self.newest.iter().min_by_key(|(_, (_, used))| *used).map(|(conversation, _)| *conversation);
            let Some(oldest) = oldest else { break };
            self.newest.remove(&oldest);
        }
    }

    /// Returns the cached features of the newest messages, ascending by number, if the chat is unchanged at revision
    /// `now`.
    pub fn known(&self, conversation: Conversation, now: Revision) -> Vec<(Seq, Arc<MessageFeatures>)> {
        let (Some((newest, _)), Some(slot)) = (self.newest.get(&conversation), self.talks.get(&conversation)) else {
            return Vec::new();
        };
        let known = |(stored, mark): (&StoredMessage, &Mark)| {
            let known = slot.talk.known.get(&address(stored)).filter(|known| known.mark == mark.mark)?;
            Some((stored.seq, Arc::clone(&known.reading)))
        };
        let mut known: Vec<_> = newest.as_of(now).filter_map(known).collect();
        known.sort_unstable_by_key(|(seq, _)| *seq);
        known
    }

    fn bytes(&self) -> usize {
        self.talks.values().map(|slot| slot.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::transcript;
    use chime_core::{ChatId, ChatKey, MessageId};

    fn talk(messages: i64, text: &str) -> Arc<Talk> {
        let message = transcript("10:00 ann#1 x").remove(0).message;
        let reading = Arc::new(MessageFeatures::of(&message, text, Vec::new()));
        let known = |id| ((ChatId(1), MessageId(id)), Known { mark: 7, reading: Arc::clone(&reading), row: None });
        Arc::new(Talk { known: (0..messages).map(known).collect(), sampled: None })
    }

    fn bytes_of(text: &str) -> usize {
        talk(1, text).known.values().map(|known| known.reading.bytes()).sum()
    }

    fn conversation(chat: u32) -> Conversation {
        Conversation { chat: ChatKey(chat), thread: None }
    }

    /// Returns the number of cached messages in each of the first three conversations.
    fn left(cache: &mut Cache) -> [usize; 3] {
        [1, 2, 3].map(|chat| cache.talk(conversation(chat)).known.len())
    }

    #[test]
    fn the_conversation_used_longest_ago_makes_room() {
        let room = 10 * bytes_of("x");
        let mut cache = Cache::default();
        cache.put(conversation(1), talk(5, "x"), room);
        cache.put(conversation(2), talk(5, "x"), room);
        assert_eq!(left(&mut cache), [5, 5, 0], "there is room");
        assert_eq!(cache.talk(conversation(1)).known.len(), 5);
        cache.put(conversation(3), talk(4, "x"), room);
        assert_eq!(left(&mut cache), [5, 0, 4]);
        cache.put(conversation(3), talk(6, "x"), room);
        assert_eq!(left(&mut cache), [0, 0, 6], "what was known of a conversation is replaced");
    }

    #[test]
    fn long_messages_take_the_room_of_many() {
        let long: String = (0..100).map(|n| format!("w{n} ")).collect();
        let room = 6 * bytes_of("x");
        let mut cache = Cache::default();
        cache.put(conversation(1), talk(2, "x"), room);
        cache.put(conversation(2), talk(2, "x"), room);
        assert_eq!(left(&mut cache), [2, 2, 0]);
        cache.put(conversation(3), talk(2, &long), room);
        assert!(cache.bytes() <= room && left(&mut cache)[0] == 0, "{:?}", left(&mut cache));
    }
}
