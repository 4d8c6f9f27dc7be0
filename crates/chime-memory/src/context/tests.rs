//! A warm cache must give the same context as an empty one.

mod archive;

use std::sync::Arc;
use std::time::Duration;

use crate::context::{AskedSpan, FeatureCache, TriggerInput, gather, told_in};
use crate::recall::Recaller;
use chime_core::embed::Embedder;
use chime_core::testkit::CHAT;
use chime_core::{Chat, ChatKind, Language, Message, MessageId, Sender, Timestamp, UserId, Zone, estimate_tokens};
use chime_relevance::context::candidate_features::CandidateFeatures;
use chime_relevance::context::context_window::ContextWindow;
use chime_relevance::context::history::History;
use chime_relevance::context::params::Params;
use chime_relevance::retrieval::TimeSpan;
use chime_store::testkit::new_store;
use chime_store::{Priority, Store, chats, embedding_spaces, messages, vectors};

const START: Timestamp = Timestamp::from_secs(1_750_000_000);
const LINES: [&str; 9] = [
    "Shall we try the thai place on Friday?",
    "The projector is dead again, it shows everything in green",
    "how many are we now?",
    "nine, if Katya comes; she will know tomorrow",
    "Is it the cable or the lamp of the projector?",
    "they have a garden and half of the menu is without meat",
    "Did you see the match yesterday?",
    "Кто может забрать проектор в субботу?",
    "ok",
];

/// Returns message `number` of a made-up chat about a few subjects; a given number always gives the same message. A
/// small `seconds_apart` makes the chat busy.
fn message(number: i64, seconds_apart: u64) -> Message {
    let (author, mixed) = (number * 7 % 5, number * 31 % 97);
    let silence = if mixed % 6 == 0 { 9 } else { 1 };
    let sender = Sender::person(UserId(100 + author), format!("Member {author}"));
    let sent_at = START.plus(Duration::from_secs(number.unsigned_abs() * 10 * seconds_apart + silence));
    Message {
        text: format!("{} {}", LINES[(mixed % 9).unsigned_abs() as usize], mixed % 4),
        reply_to: (mixed % 3 == 0).then(|| MessageId((number - 1 - mixed).max(1))),
        ..Message::new(CHAT, MessageId(number), sender, sent_at)
    }
}

async fn take_in(store: &Store, taken: Vec<Message>) {
    let written = store.write(Priority::Background, move |tx| {
        let kind = ChatKind::Supergroup;
        let chat = chats::upsert(tx, &Chat { id: CHAT, kind, title: None, username: None })?;
        taken.iter().try_for_each(|message| messages::take_in(tx, &chat, message).map(drop))
    });
    written.await.unwrap();
}

async fn chat(said: impl Iterator<Item = Message>) -> (tempfile::TempDir, Store) {
    let (folder, store) = new_store().await;
    take_in(&store, said.collect()).await;
    (folder, store)
}

async fn gathered(store: &Store, readings: &Arc<FeatureCache>, trigger: i64, ask: &'static str) -> History {
    let readings = Arc::clone(readings);
    let gathered = store.read(move |conn| {
        let trigger = messages::find(conn, CHAT, MessageId(trigger))?.unwrap();
        let asked =
            TriggerInput { trigger, ask: ask.to_owned(), is_tag: true, language: Language::DEFAULT, zone: Zone::UTC };
        gather(conn, asked, &Params::new(estimate_tokens), &readings)
    });
    gathered.await.unwrap()
}

async fn window(store: &Store, readings: &Arc<FeatureCache>, trigger: i64, ask: &'static str) -> ContextWindow {
    let history = gathered(store, readings, trigger, ask).await;
    let recaller = Recaller::new(history.evidence.embedder.clone());
    let params = Params::new(estimate_tokens);
    let picked = store.read(move |conn| Ok(crate::context::window(conn, &history, &params, &recaller)));
    picked.await.unwrap()
}

/// Returns the features of message `trigger`, taken as the trigger, and of the messages before it.
async fn known(store: &Store, readings: &Arc<FeatureCache>, trigger: i64) -> Arc<CandidateFeatures> {
    gathered(store, readings, trigger, "").await.evidence
}

/// Checks that a filled and an empty cache give the same window.
async fn check(seconds_apart: u64) {
    let (_folder, store) = chat((1..=430).map(|number| message(number, seconds_apart))).await;
    let embedder = Arc::new(Embedder::shipped().unwrap());
    let fresh = || Arc::new(FeatureCache::new(Some(Arc::clone(&embedder))));
    let warm = fresh();
    window(&store, &warm, 430, "").await;
    // Meanwhile more messages arrive, one of which tags the bot, and an old message is edited.
    take_in(&store, (431..=435).map(|number| message(number, seconds_apart)).collect()).await;
    let edited = Message {
        text: "The projector goes to the repair shop".to_owned(),
        edited_at: Some(START.plus(Duration::from_secs(90_000_000))),
        ..message(300, seconds_apart)
    };
    for edit in [None, Some(edited)] {
        take_in(&store, edit.into_iter().collect()).await;
        for trigger in [435, 433, 250] {
            for ask in ["", "what about the projector cable?"] {
                let of_memory = window(&store, &warm, trigger, ask).await;
                assert!(!of_memory.ranked.is_empty(), "there is something to choose from");
                assert_eq!(of_memory, window(&store, &fresh(), trigger, ask).await, "at {trigger}, {ask:?}");
            }
        }
    }
}

#[tokio::test]
async fn in_a_slow_chat_what_is_kept_changes_nothing() {
    check(60).await;
}

#[tokio::test]
async fn in_a_busy_chat_what_is_kept_changes_nothing() {
    check(1).await;
}

#[tokio::test]
async fn of_a_long_time_each_part_is_read() {
    let (_folder, store) = chat((1..=1_300).map(|number| message(number, 60))).await;
    let read = store.read(|conn| {
        let trigger = messages::find(conn, CHAT, MessageId(1_300))?.unwrap();
        let ids = |from: i64, to: i64| -> chime_store::Result<Vec<i64>> {
            let span = TimeSpan { from: message(from, 60).sent_at, to: message(to, 60).sent_at };
            let found = told_in(conn, &trigger, AskedSpan::Within(span))?;
            Ok(found.iter().map(|stored| stored.message.id.0).collect())
        };
        Ok((ids(1, 1_201)?, ids(600, 605)?, ids(1_299, 1_310)?))
    });
    let (long, short, until_now) = read.await.unwrap();
    let tenths: Vec<i64> = (1..=10).flat_map(|tenth| tenth * 120 - 99..=tenth * 120).collect();
    assert_eq!(long, tenths, "the last 100 of each tenth");
    assert_eq!((short, until_now), (vec![600, 601, 602, 603, 604], vec![1_299]));
}

#[tokio::test]
async fn a_vector_that_comes_later_is_known_to_the_next_trigger() {
    let (_folder, store) = chat((1..=9).map(|number| message(number, 60))).await;
    let readings = Arc::new(FeatureCache::with_stored_vectors("small".to_owned()));
    let with_vector = async || {
        let evidence = known(&store, &readings, 9).await;
        let mut known: Vec<i64> =
            evidence.readings.iter().filter(|(_, it)| !it.vector.is_empty()).map(|(at, _)| at.1.0).collect();
        known.sort_unstable();
        known
    };
    assert_eq!(with_vector().await, [0_i64; 0]);
    let kept = store.write(Priority::Background, |tx| {
        let newest = embedding_spaces::due(tx, 4)?.into_iter();
        vectors::keep(tx, "small", &newest.map(|one| (one, vec![0.6, 0.8])).collect::<Vec<_>>())
    });
    kept.await.unwrap();
    assert_eq!(with_vector().await, [6, 7, 8], "the newest four, of which one is the trigger itself");
}
