//! A question continues a subject whose messages are older than the window, so only the index finds them.

use std::fmt::Write;
use std::sync::Arc;

use crate::context::FeatureCache;
use crate::context::{TriggerInput, gather, window};
use crate::recall::Recaller;
use chime_core::embed::Embedder;
use chime_core::testkit::{CHAT, transcript};
use chime_core::{
    Chat, ChatId, ChatKind, ForumTopicId, Language, Message, MessageId, Origin, Reason, Seq, StoredMessage, Zone,
    estimate_tokens,
};
use chime_relevance::context::context_window::ContextWindow;
use chime_relevance::context::params::Params;
use chime_store::testkit::new_store;
use chime_store::{Priority, chats, messages};

const DAY: u64 = 86_400;

/// Filler texts of common words; each gets two rare words.
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

/// Returns one of three thousand rare words.
fn seldom(n: usize) -> String {
    let letter = |n: usize| char::from(b'b' + (n % 15) as u8);
    format!("{}o{}i{}", letter(n), letter(n / 15), letter(n / 225 % 14))
}

/// Line of a test chat: seconds since the previous line, author, text.
struct Line(u64, &'static str, String);

fn line(after: u64, who: &'static str, text: &str) -> Line {
    Line(after, who, text.to_owned())
}

/// Returns `count` messages of other members, spread over `seconds`.
fn chatter(count: usize, seconds: u64) -> Vec<Line> {
    let people = ["Lena", "Omar", "Pia", "Ruth", "Sven"];
    let mixed = |n: usize| n.wrapping_mul(2_654_435_761) >> 7;
    let text =
        |n: usize| format!("{}, {} {}", USUAL[mixed(n) % 12], seldom(mixed(n * 3 + count)), seldom(mixed(n * 5 + 1)));
    (0..count).map(|n| Line(seconds / count as u64, people[n * 3 % 5], text(n))).collect()
}

/// Returns the window for the last of `lines`, used as a trigger with the question `ask`.
async fn asked(lines: Vec<Line>, ask: &'static str) -> ContextWindow {
    asked_in(lines, ask, |_| {}, "").await
}

/// Returns the window for a trigger without words about the [`resumed`] subject. `change` is applied to the messages
/// with the ids `changed` before they are stored.
async fn resumed_with(changed: &[i64], change: impl Fn(&mut Message)) -> ContextWindow {
    let change = |message: &mut Message| {
        if changed.contains(&message.id.0) {
            change(message);
        }
    };
    asked_in(resumed(""), "", change, "").await
}

/// Returns the window for the last of `lines`. `change` is applied to each message before it is stored; `damage` is SQL
/// that runs on the database before the question.
async fn asked_in(
    lines: Vec<Line>,
    ask: &'static str,
    change: impl Fn(&mut Message),
    damage: &'static str,
) -> ContextWindow {
    let (_folder, store) = new_store().await;
    let mut rendered = transcript(&written(&lines));
    rendered.iter_mut().for_each(|stored| change(&mut stored.message));
    let last = rendered.iter().map(|stored| stored.message.id).max().unwrap();
    let stored = store.write(Priority::Background, move |tx| {
        for StoredMessage { message, .. } in &rendered {
            let chat = Chat { id: message.chat, kind: ChatKind::Supergroup, title: None, username: None };
            messages::take_in(tx, &chats::upsert(tx, &chat)?, message)?;
        }
        Ok(tx.execute_batch(damage)?)
    });
    stored.await.unwrap();
    let embedder = Arc::new(Embedder::shipped().unwrap());
    let (readings, recaller) = (FeatureCache::new(Some(Arc::clone(&embedder))), Recaller::new(Some(embedder)));
    let picked = store.read(move |conn| {
        let trigger = messages::find(conn, CHAT, last)?.unwrap();
        let params = Params::new(estimate_tokens);
        let asked =
            TriggerInput { trigger, ask: ask.to_owned(), is_tag: true, language: Language::DEFAULT, zone: Zone::UTC };
        Ok(window(conn, &gather(conn, asked, &params, &readings)?, &params, &recaller))
    });
    picked.await.unwrap()
}

/// Returns the lines as a transcript in the format of the test kit, starting on day 1.
fn written(lines: &[Line]) -> String {
    let (mut chat, mut at) = (String::new(), 0);
    for (id, Line(after, who, text)) in (1..).zip(lines) {
        let day = at / DAY;
        at += after;
        if id == 1 || at / DAY > day {
            writeln!(chat, "day {}", at / DAY + 1).unwrap();
        }
        let (hours, minutes, seconds) = (at % DAY / 3600, at % 3600 / 60, at % 60);
        writeln!(chat, "{hours:02}:{minutes:02}:{seconds:02} {who}#{id} {text}").unwrap();
    }
    chat
}

/// Returns the ids of the window's messages that were found by the index.
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

/// Returns lines about a subject, two days and a thousand messages about other things, and a trigger that returns to
/// the subject.
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
    let of_another_chat = resumed_with(&[301, 302], |message| message.chat = ChatId(-1_001_000_000_002)).await;
    let of_another_thread = resumed_with(&[301, 302], |message| message.forum_topic = Some(ForumTopicId(7))).await;
    assert_eq!([bridged(&of_another_chat), bridged(&of_another_thread)], [[0_i64; 0]; 2]);
}

#[tokio::test]
async fn without_the_index_there_is_still_a_window() {
    let window = asked_in(resumed(""), "", |_| {}, "DROP TABLE message_fts").await;
    assert_eq!(bridged(&window), [0_i64; 0]);
    assert!(window.entries.iter().any(|entry| entry.message.message.id == MessageId(1303)));
}

#[tokio::test]
async fn an_album_comes_whole() {
    let bridged = bridged(&resumed_with(&[302, 303], |picture| picture.album = Some("the menu".to_owned())).await);
    assert!(bridged.starts_with(&[301, 302, 303]), "{bridged:?}");
}

#[tokio::test]
async fn what_is_known_of_an_old_message_from_a_reply_does_not_hide_what_is_older() {
    // The message with the oldest date is stored last, as by an import, so it gets the highest sequence number.
    let late = |message: &mut Message| (message.origin, message.id) = (Origin::Snapshot, MessageId(1));
    assert_eq!(bridged(&resumed_with(&[1105], late).await), [301, 302]);
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
