//! Made-up chats: fifty of them, the first with a fifth of all messages. The same number always gives the same message.

use std::time::Duration;

use chime_core::{Chat, ChatId, ChatKind, Message, MessageId, Sender, Timestamp, UserId};

pub const CHATS: u32 = 50;
/// One of this many messages belongs to the largest chat.
const LARGEST: u32 = 5;
/// Message ids that an embedded Telegram does not reach.
const FIRST_ID: i64 = 1_000_000;
pub const WORDS: u64 = 20_000;
const AUTHORS: u64 = 40;
/// Average time between two messages over all chats. It makes the largest chat busy and the others slow.
pub const APART: Duration = Duration::from_secs(20);
/// Number of messages of a talk, which is followed by silence.
const TALK: u32 = 8;
/// Factor by which messages within a talk follow each other faster than on average.
const PACE: u32 = 10;
/// Number of members in one talk.
const PRESENT: u64 = 4;
/// Number of talks on one subject, and number of words that are typical of it.
const TALKS: u32 = 3;
const SUBJECT_WORDS: u64 = 12;

/// Returns the time of the first of `count` messages if the last is sent at `now`.
pub fn start(count: u32, now: Timestamp) -> Timestamp {
    now.minus(APART * count)
}

/// Returns the chat of a message; `first` is the id of the largest chat.
pub fn chat_of(first: ChatId, number: u32) -> Chat {
    let place = if number.is_multiple_of(LARGEST) { 0 } else { 1 + number % (CHATS - 1) };
    let id = ChatId(first.0 - i64::from(place) * 1_000);
    Chat { id, kind: ChatKind::Supergroup, title: Some(format!("Chat {place}")), username: None }
}

pub fn message(chat: ChatId, number: u32, start: Timestamp) -> Message {
    let place = PositionInChat::of(number);
    let (talk, within) = (place.in_chat / TALK, place.in_chat % TALK);
    let mut random = Random(u64::from(number));
    let author = (u64::from(talk) * 7 + random.below(PRESENT)) % AUTHORS;
    let sent_at = start.plus(APART * place.apart * TALK * talk + APART * place.apart * within / PACE);
    let replies = within > 0 && random.below(3) == 0;
    let sender = Sender::person(UserId(5_000 + i64::try_from(author).unwrap_or(0)), format!("Member {author}"));
    Message {
        text: sentence(&mut random, chat.0.unsigned_abs() << 24 ^ u64::from(talk / TALKS)),
        reply_to: place.previous.filter(|_| replies).map(|before| MessageId(FIRST_ID + i64::from(before))),
        ..Message::new(chat, MessageId(FIRST_ID + i64::from(number)), sender, sent_at)
    }
}

struct PositionInChat {
    in_chat: u32,
    /// Average distance from one message of the chat to the next, in numbers.
    apart: u32,
    /// Number of the previous message in the chat.
    previous: Option<u32>,
}

impl PositionInChat {
    fn of(number: u32) -> Self {
        if number.is_multiple_of(LARGEST) {
            return Self { in_chat: number / LARGEST, apart: LARGEST, previous: number.checked_sub(LARGEST) };
        }
        // Every number of this chat is `CHATS - 1` after the one before, except where that number falls to the largest
        // chat: one in `LARGEST` does.
        let turn = CHATS - 1;
        let back = if number.wrapping_sub(turn).is_multiple_of(LARGEST) { 2 * turn } else { turn };
        let round = number / turn;
        // One of five rounds of this chat belongs to the largest chat; count how many came before.
        let skipped =
            (0..round % LARGEST).filter(|other| (number - (round % LARGEST - other) * turn).is_multiple_of(LARGEST));
        let in_chat = round - round / LARGEST - u32::try_from(skipped.count()).unwrap_or(0);
        Self { in_chat, apart: turn * LARGEST / (LARGEST - 1), previous: number.checked_sub(back) }
    }
}

/// Returns three to twenty words: a third from the subject's vocabulary, the others mostly rare words, as in a real
/// language.
fn sentence(random: &mut Random, subject: u64) -> String {
    let words = (0..3 + random.below(18)).map(|_| match random.below(3) {
        0 => word(Random(subject ^ random.below(SUBJECT_WORDS) << 56).below(WORDS)),
        _ => word(random.below(WORDS).min(random.below(WORDS)) * random.below(WORDS) / WORDS),
    });
    words.collect::<Vec<_>>().join(" ")
}

pub fn word(mut number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ka", "lo", "mi", "ra", "ten", "sul", "vo", "ni", "pes", "dor", "ga", "be", "hum", "fi", "sta", "qu"];
    let mut word = String::new();
    loop {
        word.push_str(SYLLABLES[(number % 16) as usize]);
        number /= 16;
        if number == 0 {
            return word;
        }
    }
}

/// SplitMix64 generator: the same seed gives the same chat.
#[derive(Debug, Clone, Default)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chat_goes_on_in_order_of_time_without_a_gap() {
        let first = ChatId(-1_009_000_000_000);
        let mut chats: std::collections::HashMap<ChatId, Vec<Message>> = std::collections::HashMap::new();
        for number in 0..5_000 {
            let chat = chat_of(first, number).id;
            chats.entry(chat).or_default().push(message(chat, number, Timestamp::from_secs(0)));
        }
        assert_eq!(chats.len(), CHATS as usize);
        for said in chats.values() {
            assert!(said.is_sorted_by_key(|message| (message.sent_at, message.id)));
            let places: Vec<u32> =
                said.iter().map(|m| PositionInChat::of((m.id.0 - FIRST_ID) as u32).in_chat).collect();
            assert_eq!(places, (0..said.len() as u32).collect::<Vec<_>>());
            let known = |id: MessageId| said.iter().any(|message| message.id == id);
            assert!(said.iter().filter_map(|message| message.reply_to).all(known));
        }
        let replies = chats.values().flatten().filter(|message| message.reply_to.is_some()).count();
        assert!((1_000..2_000).contains(&replies), "{replies} of 5,000");
    }
}
