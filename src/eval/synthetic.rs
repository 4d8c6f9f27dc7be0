//! Chats that nobody ever had: fifty of them, the first holding a fifth of everything. The same number is the same message.

use std::time::Duration;

use crate::domain::{Chat, ChatId, ChatKind, Kind, Message, MessageId, Origin, Role, Sender, Timestamp, UserId};

pub const CHATS: u32 = 50;
/// The largest chat's share: one of this many messages.
const LARGEST: u32 = 5;
/// Message ids that an embedded Telegram does not reach.
const FIRST_ID: i64 = 1_000_000;
const WORDS: u64 = 20_000;
const AUTHORS: u64 = 40;
/// Between two messages of all chats. The largest is busy then, and the others are slow.
const APART: Duration = Duration::from_secs(20);

/// When the first of `count` messages was sent, the last being sent at `now`.
pub fn start(count: u32, now: Timestamp) -> Timestamp {
    now.minus(APART * count)
}

/// The chat of a message; `first` is the id of the largest.
pub fn chat_of(first: ChatId, number: u32) -> Chat {
    let place = if number.is_multiple_of(LARGEST) { 0 } else { 1 + number % (CHATS - 1) };
    let id = ChatId(first.0 - i64::from(place) * 1_000);
    Chat { id, kind: ChatKind::Supergroup, title: Some(format!("Chat {place}")), username: None }
}

pub fn message(chat: ChatId, number: u32, start: Timestamp) -> Message {
    let mut random = Random(u64::from(number));
    let author = random.below(AUTHORS);
    Message {
        chat,
        id: MessageId(FIRST_ID + i64::from(number)),
        thread: None,
        sender: Sender {
            id: UserId(5_000 + i64::try_from(author).unwrap_or(0)),
            name: format!("Member {author}"),
            username: None,
            is_bot: false,
            is_chat: false,
        },
        role: Role::User,
        sent_at: start.plus(APART * number),
        edited_at: None,
        kind: Kind::Text,
        detail: None,
        text: sentence(&mut random),
        entities: Vec::new(),
        reply_to: None,
        quote: None,
        snapshot: None,
        forward_origin: None,
        album: None,
        via_bot: None,
        origin: Origin::Update,
    }
}

/// Three to twenty words, a few of them in every other sentence and most of them rare, as in a language.
fn sentence(random: &mut Random) -> String {
    let words = (0..3 + random.below(18))
        .map(|_| word(random.below(WORDS).min(random.below(WORDS)) * random.below(WORDS) / WORDS));
    words.collect::<Vec<_>>().join(" ")
}

fn word(mut number: u64) -> String {
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

/// SplitMix64: the same seed is the same chat.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }
}
