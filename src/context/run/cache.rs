//! What was read off messages and worked out for them, in memory: the most recently used, up to a bound, and of each
//! conversation only what can still be asked for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::features::message::{Address, MessageFeatures};
use crate::context::features::token::Quick;
use crate::context::replies::antecedents::{Antecedent, Antecedents};
use crate::context::strands::SampledStrands;
use crate::domain::{ChatKey, Conversation, MessageId, Seq};
use crate::store::links::CachedLinks;

/// What is kept at most: what triggers need in fifty conversations, and room for what these go on to say. A message takes
/// about 2 KiB, half of it its vector, so that a group that is alone with its bot fills half a MB. One of four thousand
/// characters takes ten times as much: then the bytes decide.
pub const ROOM: Room = Room { messages: 12_500, bytes: 16 * 1024 * 1024 };

#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub messages: usize,
    pub bytes: usize,
}

/// Keyed by message; good for as long as the mark is the same.
#[derive(Debug, Default)]
pub struct Cache {
    slots: Quick<Address, Slot>,
    /// How many slots each conversation has.
    counts: HashMap<Conversation, usize>,
    /// What its messages are about, of each conversation that has slots, with the fingerprint of what that was worked out of.
    sampled: HashMap<Conversation, (u64, Arc<SampledStrands>)>,
    /// What all readings take.
    bytes: usize,
    /// Raised with every use.
    now: u64,
}

#[derive(Debug)]
struct Slot {
    conversation: Conversation,
    mark: u64,
    reading: Arc<MessageFeatures>,
    row: Option<Row>,
    used: u64,
    bytes: usize,
}

/// Where a message may go on from.
#[derive(Debug, Clone)]
pub struct Row {
    /// Of the messages that it was scored against.
    pub past: i64,
    pub antecedents: Arc<Antecedents>,
    /// Under which the store is to keep it; none where it does already.
    pub to_keep: Option<(ChatKey, Seq)>,
}

impl Cache {
    /// Begins another use: what is not found from here on is the older.
    pub fn turn(&mut self) {
        self.now += 1;
    }

    /// What was read off a message.
    pub fn reading(&mut self, address: Address, mark: u64) -> Option<Arc<MessageFeatures>> {
        self.slot(address, mark).map(|slot| Arc::clone(&slot.reading))
    }

    /// The same, and where it may go on from, if that was scored against the same past.
    pub fn scored(
        &mut self,
        address: Address,
        (mark, past): (u64, i64),
    ) -> Option<(Arc<MessageFeatures>, Option<Arc<Antecedents>>)> {
        let slot = self.slot(address, mark)?;
        let row = slot.row.as_ref().filter(|row| row.past == past);
        Some((Arc::clone(&slot.reading), row.map(|row| Arc::clone(&row.antecedents))))
    }

    fn slot(&mut self, address: Address, mark: u64) -> Option<&Slot> {
        let slot = self.slots.get_mut(&address).filter(|slot| slot.mark == mark)?;
        slot.used = self.now;
        Some(slot)
    }

    pub fn put(&mut self, conversation: Conversation, address: Address, mark: u64, reading: Arc<MessageFeatures>) {
        let bytes = reading.bytes();
        let slot = Slot { conversation, mark, reading, row: None, used: self.now, bytes };
        self.bytes += bytes;
        match self.slots.insert(address, slot) {
            Some(before) => self.bytes -= before.bytes,
            None => *self.counts.entry(conversation).or_default() += 1,
        }
    }

    /// For a message whose reading is there.
    pub fn put_row(&mut self, address: Address, row: Row) {
        if let Some(slot) = self.slots.get_mut(&address) {
            slot.row = Some(row);
        }
    }

    /// What the messages of this fingerprint are about.
    pub fn sampled(&self, conversation: Conversation, fingerprint: u64) -> Option<Arc<SampledStrands>> {
        let (of, sampled) = self.sampled.get(&conversation)?;
        (*of == fingerprint).then(|| Arc::clone(sampled))
    }

    pub fn put_foreseen(&mut self, conversation: Conversation, fingerprint: u64, sampled: Arc<SampledStrands>) {
        if self.counts.contains_key(&conversation) {
            self.sampled.insert(conversation, (fingerprint, sampled));
        }
    }

    /// Drops what a conversation has left behind, messages before `oldest`, once it holds more than `most`.
    pub fn leave_behind(&mut self, conversation: Conversation, oldest: MessageId, most: usize) {
        if self.counts.get(&conversation).is_some_and(|count| *count > most) {
            self.retain(|(_, id), slot| slot.conversation != conversation || *id >= oldest);
        }
    }

    /// Drops what was used longest ago, down to three quarters, when there is more than there is room for.
    pub fn make_room(&mut self, room: Room) {
        if self.slots.len() <= room.messages && self.bytes <= room.bytes {
            return;
        }
        let mut uses: Vec<(u64, usize)> = self.slots.values().map(|slot| (slot.used, slot.bytes)).collect();
        uses.sort_unstable_by(|a, b| b.cmp(a));
        let (mut messages, mut bytes) = (0, 0);
        let kept = uses.iter().take_while(|(_, size)| {
            messages += 1;
            bytes += size;
            messages <= room.messages * 3 / 4 && bytes <= room.bytes * 3 / 4
        });
        let kept: Vec<u64> = kept.map(|(used, _)| *used).collect();
        let oldest = kept.last().copied().unwrap_or(u64::MAX);
        // Of one age there may be more than there is room for: then any of them go.
        let mut of_that_age = kept.iter().filter(|used| **used == oldest).count();
        self.retain(|_, slot| {
            let is_counted = slot.used == oldest && of_that_age > 0;
            of_that_age -= usize::from(is_counted);
            slot.used > oldest || is_counted
        });
    }

    fn retain(&mut self, mut stays: impl FnMut(&Address, &Slot) -> bool) {
        let (counts, bytes) = (&mut self.counts, &mut self.bytes);
        self.slots.retain(|address, slot| {
            let stays = stays(address, slot);
            *bytes -= if stays { 0 } else { slot.bytes };
            if let Some(count) = counts.get_mut(&slot.conversation).filter(|_| !stays) {
                *count -= 1;
            }
            stays
        });
        counts.retain(|_, count| *count > 0);
        self.sampled.retain(|conversation, _| counts.contains_key(conversation));
    }

    /// Rows that the store does not keep yet, at most `most`; from now on they count as kept.
    pub fn take_unkept(&mut self, most: usize) -> Vec<(ChatKey, Seq, CachedLinks)> {
        let rows = self.slots.values_mut().filter_map(|slot| slot.row.as_mut());
        let taken = rows.filter_map(|row| {
            let (chat, seq) = row.to_keep.take()?;
            Some((chat, seq, to_cached(row)))
        });
        taken.take(most).collect()
    }

    /// How many rows the store does not keep yet.
    pub fn unkept(&self) -> usize {
        self.slots.values().filter(|slot| slot.row.as_ref().is_some_and(|row| row.to_keep.is_some())).count()
    }
}

fn to_cached(row: &Row) -> CachedLinks {
    let links = row.antecedents.0.iter().filter_map(|link| Some((u8::try_from(link.distance).ok()?, link.probability)));
    CachedLinks { past: row.past, links: links.collect() }
}

pub fn from_cached(cached: &CachedLinks) -> Antecedents {
    let link = |(distance, probability): &(u8, f32)| Antecedent {
        distance: usize::from(*distance),
        probability: *probability,
    };
    Antecedents(cached.links.iter().map(link).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ChatId, MessageId};
    use crate::testkit::transcript;

    const TALK: Conversation = Conversation { chat: ChatKey(1), thread: None };

    fn of_messages(messages: usize) -> Room {
        Room { messages, bytes: usize::MAX / 4 }
    }

    fn filled(count: i64) -> Cache {
        let message = transcript("10:00 ann#1 x").remove(0).message;
        let reading = Arc::new(MessageFeatures::of(&message, "x", Vec::new()));
        let mut cache = Cache::default();
        for id in 0..count {
            cache.turn();
            cache.put(TALK, (ChatId(1), MessageId(id)), 7, Arc::clone(&reading));
        }
        cache
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let mut cache = filled(8);
        cache.turn();
        assert!(cache.reading((ChatId(1), MessageId(0)), 7).is_some());
        cache.make_room(of_messages(8));
        assert_eq!(cache.slots.len(), 8, "there is room");
        cache.make_room(of_messages(4));
        let mut left: Vec<i64> = cache.slots.keys().map(|(_, id)| id.0).collect();
        left.sort_unstable();
        assert_eq!(left, [0, 6, 7]);
    }

    #[test]
    fn what_a_conversation_has_left_behind_goes() {
        let mut cache = filled(8);
        let (elsewhere, address) = (Conversation { chat: ChatKey(2), thread: None }, (ChatId(2), MessageId(0)));
        let reading = cache.reading((ChatId(1), MessageId(7)), 7).expect("a reading");
        cache.put(elsewhere, address, 7, reading);
        cache.leave_behind(TALK, MessageId(5), 8);
        assert_eq!(cache.slots.len(), 9, "it may have so many");
        cache.leave_behind(TALK, MessageId(5), 7);
        assert_eq!((cache.slots.len(), cache.counts[&TALK], cache.counts[&elsewhere]), (4, 3, 1));
        cache.put_foreseen(TALK, 1, Arc::default());
        assert!(cache.sampled(TALK, 1).is_some() && cache.sampled(TALK, 2).is_none());
        cache.leave_behind(TALK, MessageId(99), 0);
        assert!(cache.sampled(TALK, 1).is_none(), "it goes with the last message");
        cache.make_room(of_messages(2));
        assert_eq!(cache.counts.values().sum::<usize>(), cache.slots.len());
    }

    #[test]
    fn the_bound_holds_when_all_are_of_one_age() {
        let mut cache = filled(8);
        cache.slots.values_mut().for_each(|slot| slot.used = 1);
        cache.make_room(of_messages(4));
        assert!((1..=4).contains(&cache.slots.len()));
    }

    #[test]
    fn long_messages_take_the_room_of_many() {
        let mut cache = filled(8);
        let one = cache.bytes / 8;
        cache.make_room(Room { messages: 100, bytes: one * 8 });
        assert_eq!(cache.slots.len(), 8, "there is room");
        let message = transcript("10:00 ann#1 x").remove(0).message;
        let long: String = (0..100).map(|n| format!("w{n} ")).collect();
        cache.turn();
        cache.put(TALK, (ChatId(1), MessageId(8)), 7, Arc::new(MessageFeatures::of(&message, &long, vec![0.0; 256])));
        assert!(cache.bytes > one * 12);
        let room = Room { messages: 100, bytes: cache.bytes - one };
        cache.make_room(room);
        assert!(cache.slots.contains_key(&(ChatId(1), MessageId(8))) && cache.slots.len() < 8);
        assert_eq!(cache.bytes, cache.slots.values().map(|slot| slot.bytes).sum::<usize>());
    }

    #[test]
    fn nothing_is_found_of_a_message_that_has_changed() {
        let mut cache = filled(1);
        let address = (ChatId(1), MessageId(0));
        let row = Row { past: 5, antecedents: Arc::default(), to_keep: Some((ChatKey(1), Seq(1))) };
        cache.put_row(address, row);
        let mut scored = |mark, past| cache.scored(address, (mark, past)).map(|(_, antecedents)| antecedents.is_some());
        assert_eq!((scored(7, 5), scored(7, 6), scored(8, 5)), (Some(true), Some(false), None));
        assert_eq!((cache.take_unkept(9).len(), cache.unkept()), (1, 0));
    }
}
