//! Matters that began before all that a window is usually chosen from.

use std::sync::Arc;
use std::time::Duration;

use crate::context::run::{Asked, Readings, gather, window};
use crate::context::{ContextWindow, Params};
use crate::domain::{
    Chat, ChatId, ChatKind, Kind, Message, MessageId, Origin, Reason, Role, Sender, Seq, ThreadId, Timestamp, UserId,
    estimate_tokens,
};
use crate::embed::Embedder;
use crate::store::{Priority, Store, chats, messages};

const CHAT: ChatId = ChatId(-1_001_000_000_001);
const START: Timestamp = Timestamp::from_secs(1_750_000_000);
const DAY: u64 = 86_400;

/// What people say meanwhile: a few words that everybody uses, and two that are hardly ever said.
const USUAL: [&str; 12] = [
    "the match yesterday was awful",
    "my train is late again",
    "lol",
    "I am away until noon",
    "did you watch it",
    "rain all weekend they say",
    "happy birthday",
    "good morning everyone",
    "back in ten minutes",
    "parking was free today",
    "that song again",
    "power cut on our street",
];

/// One of three thousand words.
fn seldom(n: usize) -> String {
    const HEADS: [&str; 20] = [
        "bal", "cor", "dun", "fen", "gar", "hol", "jas", "kel", "lom", "mur", "nid", "osk", "pel", "quo", "ral", "sib",
        "tov", "ulm", "vek", "wim",
    ];
    const TAILS: [&str; 15] =
        ["ado", "bix", "cam", "dil", "eru", "fog", "gan", "hip", "ilo", "jut", "kor", "lax", "min", "nob", "oza"];
    format!(
        "{}{}{}",
        HEADS[n % 20],
        TAILS[n / 20 % 15],
        ["", "ra", "st", "um", "el", "ik", "on", "ax", "ur", "es"][n / 300 % 10]
    )
}

/// Who says what, seconds after the one before.
struct Line(u64, &'static str, String);

fn line(after: u64, who: &'static str, text: &str) -> Line {
    Line(after, who, text.to_owned())
}

/// `count` messages of others, spread over `seconds`.
fn chatter(count: usize, seconds: u64) -> Vec<Line> {
    let people = ["Lena", "Omar", "Pia", "Ruth", "Sven"];
    let mixed = |n: usize| n.wrapping_mul(2_654_435_761) >> 7;
    let text =
        |n: usize| format!("{}, {} {}", USUAL[mixed(n) % 12], seldom(mixed(n * 3 + count)), seldom(mixed(n * 5 + 1)));
    (0..count).map(|n| Line(seconds / count as u64, people[n * 3 % 5], text(n))).collect()
}

/// Stores `lines` and reads the window of the last of them, a tag with these words.
async fn asked(lines: Vec<Line>, ask: &'static str) -> ContextWindow {
    asked_with(lines, ask, |_| {}).await
}

/// The same, each message changed by `change`.
async fn asked_with(lines: Vec<Line>, ask: &'static str, change: impl Fn(&mut Message)) -> ContextWindow {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(&folder.path().join("chime.db"), START).unwrap();
    let mut at = START;
    let messages: Vec<Message> = (1..)
        .zip(lines)
        .map(|(id, Line(after, who, text))| {
            at = at.plus(Duration::from_secs(after));
            let mut message = message(id, at, who, text);
            change(&mut message);
            message
        })
        .collect();
    let last = messages.last().map(|message| message.id).unwrap();
    let written = store.write(Priority::Background, move |tx| {
        for message in &messages {
            let chat = Chat { id: message.chat, kind: ChatKind::Supergroup, title: None, username: None };
            messages::take_in(tx, &chats::upsert(tx, &chat)?, message)?;
        }
        Ok(())
    });
    written.await.unwrap();
    let readings = Readings::new(Some(Arc::new(Embedder::shipped().unwrap())));
    let picked = store.read(move |conn| {
        let trigger = messages::find(conn, CHAT, last)?.unwrap();
        let params = Params::new(estimate_tokens);
        let asked = Asked { trigger, ask: ask.to_owned(), is_tag: true };
        window(conn, &gather(conn, asked, &params, &readings)?, &params, &readings)
    });
    picked.await.unwrap()
}

fn message(id: i64, sent_at: Timestamp, who: &str, text: String) -> Message {
    let number = who.bytes().fold(7, |sum, byte| sum * 31 + i64::from(byte));
    Message {
        chat: CHAT,
        id: MessageId(id),
        thread: None,
        sender: Sender { id: UserId(number), name: who.to_owned(), username: None, is_bot: false, is_chat: false },
        role: Role::User,
        sent_at,
        edited_at: None,
        kind: Kind::Text,
        detail: None,
        text,
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

/// What is there from further back.
fn bridged(window: &ContextWindow) -> Vec<i64> {
    let bridged = window.entries.iter().filter(|entry| entry.reason == Reason::Bridge);
    bridged.map(|entry| entry.message.message.id.0).collect()
}

fn restaurant() -> Vec<Line> {
    vec![
        line(0, "Ann", "We should look at the restaurant for the gathering"),
        line(DAY, "Ben", "Any thoughts on the restaurant? Ann wanted thai"),
    ]
}

/// A matter that rested for two days and a thousand messages, and a tag.
fn resumed(ask: &str) -> Vec<Line> {
    let mut lines = chatter(300, DAY);
    lines.extend(restaurant());
    lines.push(line(40, "Omar", "why did the football team go to the bank? to get its quarter back"));
    lines.extend(chatter(999, 2 * DAY));
    lines.push(line(5 * 3600, "Cleo", "The thai restaurant on 10th Ave, for the gathering?"));
    lines.push(line(600, "Dan", &format!("@bot {ask}")));
    lines
}

#[tokio::test]
async fn a_matter_that_began_a_thousand_messages_ago_comes_back_without_the_joke() {
    for ask in ["", "thoughts?"] {
        let window = asked(resumed(ask), ask).await;
        assert_eq!(bridged(&window), [301, 302], "{ask:?}");
        assert!(
            window.known_from.is_some_and(|known_from| known_from > Seq(302)),
            "how much lies between is not known"
        );
        assert!(window.entries.iter().any(|entry| entry.message.message.id == MessageId(1303)), "{ask:?}");
    }
}

#[tokio::test]
async fn nothing_comes_from_another_chat_or_thread() {
    let other_chat = |message: &mut Message| {
        if matches!(message.id.0, 301 | 302) {
            message.chat = ChatId(-1_001_000_000_002);
        }
    };
    let other_thread = |message: &mut Message| {
        if matches!(message.id.0, 301 | 302) {
            message.thread = Some(ThreadId(7));
        }
    };
    for window in [asked_with(resumed(""), "", other_chat).await, asked_with(resumed(""), "", other_thread).await] {
        assert_eq!(bridged(&window), [0_i64; 0]);
    }
}

#[tokio::test]
async fn a_question_about_an_old_matter_finds_it() {
    let mut lines = chatter(300, DAY);
    lines.extend([
        line(0, "Ann", "For the wedding: shall we book the barn in Melrose as the venue?"),
        line(60, "Ben", "the barn in Melrose has no heating, but yes"),
        line(90, "Ann", "Booked the venue then, the barn holds ninety"),
    ]);
    lines.extend(chatter(1000, 9 * DAY));
    lines.push(line(60, "Dan", "@bot which wedding venue did we book in Melrose?"));
    let window = asked(lines, "which wedding venue did we book in Melrose?").await;
    assert_eq!(bridged(&window), [301, 302, 303]);
}

#[tokio::test]
async fn what_is_new_here_brings_nothing_back() {
    let mut lines = chatter(300, DAY);
    lines.extend(restaurant());
    lines.push(line(60, "Omar", "my bank is in the capital now, and the capital has no parking"));
    lines.extend(chatter(1000, 2 * DAY));
    lines.push(line(60, "Dan", "@bot what is the capital of Mongolia?"));
    let window = asked(lines, "what is the capital of Mongolia?").await;
    assert_eq!(bridged(&window), [0_i64; 0]);
}

#[tokio::test]
async fn small_talk_brings_no_old_small_talk() {
    let mut lines = chatter(1500, 5 * DAY);
    lines.push(line(60, "Dan", "@bot thoughts?"));
    let window = asked(lines, "thoughts?").await;
    assert_eq!(bridged(&window), [0_i64; 0]);
}
