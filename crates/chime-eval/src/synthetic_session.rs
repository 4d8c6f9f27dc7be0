//! Short made-up sessions in words that the embedding model knows, each with a question about it.

use std::sync::LazyLock;
use std::time::Duration;

use crate::synthetic::{APART, Random, WORDS, message, word};
use chime_core::{Chat, ChatId, ChatKind, Message, Timestamp, UserId};

/// Time between two talks.
const SILENCE: Duration = Duration::from_secs(7_200);
/// A member of every session, who asks the questions.
pub const AUTHOR: UserId = UserId(5_001);

/// Things to talk about and what is done with them, in words that the embedding model knows.
static THINGS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("../../../data/words/things.txt").lines().collect());
static DEEDS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("../../../data/words/deeds.txt").lines().collect());

/// Made-up session about a few things.
#[derive(Debug, Clone)]
pub struct SyntheticSession {
    first_chat: ChatId,
    chat: u32,
    session: u32,
    length: u32,
    start: Timestamp,
}

impl SyntheticSession {
    pub fn new(first_chat: ChatId, chat: u32, session: u32, length: u32, start: Timestamp) -> Self {
        Self { first_chat, chat, session, length, start }
    }

    pub fn chat(&self) -> Chat {
        let id = ChatId(self.first_chat.0 - i64::from(self.chat) * 1_000);
        Chat { id, kind: ChatKind::Supergroup, title: Some(format!("Chat {}", self.chat)), username: None }
    }

    pub fn is_first(&self) -> bool {
        self.session < 8
    }

    fn random(&self) -> Random {
        Random(u64::from(self.chat) << 40 ^ u64::from(self.session) << 8)
    }

    /// Returns the things that the session is about.
    pub fn tags(&self) -> Vec<String> {
        let mut random = self.random();
        (0..3).map(|_| THINGS[random.below(THINGS.len() as u64) as usize].to_owned()).collect()
    }

    pub fn messages(&self) -> Vec<Message> {
        let things = self.tags();
        let begin = self.session * self.length;
        (0..self.length)
            .map(|within| {
                let mut random = Random(self.random().0 ^ u64::from(within + 1) << 4);
                let number = begin + within;
                let mut made = message(self.chat().id, number, self.start);
                made.sent_at = self.start.plus(APART * 10 * number + SILENCE * self.session);
                made.sender.id = UserId(5_000 + i64::from(within % 5));
                made.sender.name = format!("Member {}", within % 5);
                made.reply_to = None;
                made.text = format!(
                    "we should {} the {} before {} and the {} {}",
                    DEEDS[random.below(DEEDS.len() as u64) as usize],
                    things[random.below(3) as usize],
                    word(random.below(WORDS)),
                    THINGS[random.below(THINGS.len() as u64) as usize],
                    word(random.below(WORDS).min(random.below(WORDS))),
                );
                made
            })
            .collect()
    }

    /// Returns a question about the session, with two of its things, a verb, and a word that was used.
    pub fn question(&self) -> String {
        let (things, said) = (self.tags(), self.messages());
        let rare = said.get(3).and_then(|message| message.text.split(' ').next_back()).unwrap_or_default().to_owned();
        let mut random = self.random();
        let deed = DEEDS[random.below(DEEDS.len() as u64) as usize];
        format!("who wanted to {deed} the {} and the {} with {rare}?", things[0], things[1])
    }
}
