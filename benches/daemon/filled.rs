//! A database with a past: fifty chats, the first of them, in which the mentions come, holding a fifth of everything.

use std::time::Duration;

use chime::domain::{Chat, ChatId, ChatKind, Kind, Message, MessageId, Origin, Role, Sender, Timestamp, UserId};
use chime::store::{Priority, Store, chats, messages};

use crate::Outcome;
use crate::random::Random;
use crate::scene::Scene;

const CHATS: u32 = 50;
/// The largest chat's share: one of this many messages.
const LARGEST: u32 = 5;
const BATCH: u32 = 2_000;
/// Message ids that the embedded Telegram does not reach.
const FIRST_ID: i64 = 1_000_000;
const WORDS: u64 = 20_000;

pub async fn fill(scene: &Scene, count: usize) -> Outcome<()> {
    let count = u32::try_from(count)?;
    let now = scene.clock.now();
    let (store, _) = Store::open(&scene.database(), now)?;
    let (first, start) = (scene.chat, now.minus(Duration::from_secs(u64::from(count) * 20)));
    for begin in (0..count).step_by(BATCH as usize) {
        let numbers = begin..count.min(begin + BATCH);
        store
            .write(Priority::Background, move |tx| {
                for number in numbers {
                    let chat = chat_of(first, number);
                    let row = chats::upsert(tx, &chat)?;
                    let message = message(chat.id, number, start);
                    messages::take_in(tx, &row, &message)?;
                    chats::upsert_member(tx, row.key, &message.sender)?;
                }
                Ok(())
            })
            .await?;
    }
    store.close().await;
    Ok(())
}

fn chat_of(first: ChatId, number: u32) -> Chat {
    let place = if number.is_multiple_of(LARGEST) { 0 } else { 1 + number % (CHATS - 1) };
    let id = ChatId(first.0 - i64::from(place) * 1_000);
    Chat { id, kind: ChatKind::Supergroup, title: Some(format!("Chat {place}")), username: None }
}

fn message(chat: ChatId, number: u32, start: Timestamp) -> Message {
    let mut random = Random(u64::from(number));
    let author = random.below(40);
    Message {
        chat,
        id: MessageId(FIRST_ID + i64::from(number)),
        thread: None,
        sender: Sender {
            id: UserId(5_000 + author as i64),
            name: format!("Member {author}"),
            username: None,
            is_bot: false,
            is_chat: false,
        },
        role: Role::User,
        sent_at: start.plus(Duration::from_secs(u64::from(number) * 20)),
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
