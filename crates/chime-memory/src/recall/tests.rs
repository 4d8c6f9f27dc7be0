use std::collections::BTreeSet;

use super::*;
use chime_core::testkit::{CHAT, DAY_ONE, transcript};
use chime_core::{Chat, ChatKey, ChatKind, Citable, Message, SourceId, SourceMessage, Timestamp, Zone};
use chime_store::testkit::new_store;
use chime_store::{Priority, messages};

const NOW: Timestamp = Timestamp::from_secs(1_900_000_000);
/// Noon of the second day of a transcript.
const THE_SIXTH: Timestamp = Timestamp::from_secs(DAY_ONE.secs() + 36 * 3600);

/// Returns the ids of the messages of `chat` recalled for the question `text`, best first. `shown` are in the prompt
/// already.
async fn recalled(chat: &str, text: &str, shown: &[u32]) -> Vec<u32> {
    recalled_at(NOW, chat, text, shown).await
}

async fn recalled_at(now: Timestamp, chat: &str, text: &str, shown: &[u32]) -> Vec<u32> {
    let (_folder, store) = new_store().await;
    let said: Vec<Message> = transcript(chat).into_iter().map(|stored| stored.message).collect();
    let asker = said[0].sender.id;
    let shown: HashSet<Seq> = shown.iter().copied().map(Seq).collect();
    let text = text.to_owned();
    store
        .write(Priority::Answering, move |tx| {
            let row = chats::upsert(tx, &Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None })?;
            for message in &said {
                messages::take_in(tx, &row, message)?;
                chats::upsert_member(tx, row.key, &message.sender)?;
            }
            let request = RecallRequest {
                conversation: Conversation { chat: ChatKey(1), forum_topic: None },
                text: &text,
                now,
                zone: Zone::UTC,
                by: asker,
                before: Seq(1_000),
            };
            let recaller = Recaller::new(Embedder::shipped().ok().map(Arc::new));
            let found = recaller.look(tx, &request)?.best(tx, &shown, &ToldLines::default())?;
            Ok(found.messages.iter().map(|one| one.message.seq.0).collect())
        })
        .await
        .unwrap()
}

const TALK: &str = "
    10:00 ann#1 the door code is 4711
    10:01 ben#2 thanks
    13:00 cat#3 shall we book the thai place on friday?
    13:01 ben#4 yes, for eight people
    13:02 ann#5 booked, the deposit was 40 euros
    day 2
    10:00 ben#6 my bike was stolen
    10:01 cat#7 oh no, call the police
    ";

#[tokio::test]
async fn what_was_said_about_it_is_recalled_but_for_what_the_window_holds() {
    assert_eq!(recalled(TALK, "what is the code of the door?", &[]).await[0], 1);
    assert!(!recalled(TALK, "what is the code of the door?", &[1]).await.contains(&1));
    let deposit = recalled(TALK, "how much was the deposit for the booked thai place?", &[]).await;
    assert!(deposit.iter().take(2).any(|seq| *seq == 5), "{deposit:?}");
}

#[tokio::test]
async fn the_speaker_is_looked_for_too() {
    assert_eq!(recalled(TALK, "what did Ben say about his bike?", &[]).await[0], 6);
}

#[tokio::test]
async fn a_name_or_a_day_alone_brings_what_was_said() {
    let on_the_sixth = |text: &'static str| recalled_at(THE_SIXTH, TALK, text, &[]);
    assert_eq!(recalled(TALK, "what did Ben say?", &[]).await, [6, 4], "the newest first, and thanks are left out");
    assert_eq!(recalled(TALK, "what did Ben say?", &[6]).await, [4]);
    let yesterday = on_the_sixth("what was said yesterday?").await;
    assert_eq!(BTreeSet::from_iter(yesterday), BTreeSet::from([1, 3, 4, 5]));
    assert_eq!(on_the_sixth("what did Cat say yesterday?").await, [3]);
    assert_eq!(on_the_sixth("what happened two days ago?").await, [] as [u32; 0]);
}

#[tokio::test]
async fn nothing_is_recalled_for_what_was_never_said() {
    assert_eq!(recalled(TALK, "who won the chess tournament in Oslo?", &[]).await, [] as [u32; 0]);
    assert_eq!(recalled(TALK, "and what about it?", &[]).await, [] as [u32; 0]);
}

const DEPOSIT: &str = "ann paid a deposit of 40 euros for the thai place on friday";

/// Recalls for `text` from a conversation whose session has a summary, for a prompt with the line `recent`.
async fn recalled_of_summaries(recent: Option<&str>, text: &'static str, now: Timestamp) -> Recalled {
    use chime_core::{Bullet, BulletKind, CloseReason, MessageId, Session, SessionId, Summary, SummaryMethod};
    use chime_store::summaries::save_mini;
    use chime_store::{item_marks, sessions, summary_vectors};

    let (_folder, store) = new_store().await;
    let said: Vec<Message> = transcript(TALK).into_iter().map(|stored| stored.message).collect();
    let recent: Vec<Citable> = recent.map(|text| told(text, &[4, 5, 6])).into_iter().collect();
    store
        .write(Priority::Answering, move |tx| {
            let row = chats::upsert(tx, &Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None })?;
            for message in &said {
                messages::take_in(tx, &row, message)?;
                chats::upsert_member(tx, row.key, &message.sender)?;
            }
            let session = Session {
                id: SessionId { chat: row.key, first: Seq(3) },
                forum_topic: None,
                first: (said[2].sent_at, MessageId(3)),
                last: (said[4].sent_at, MessageId(5)),
                messages: 3,
                reason: CloseReason::Silence,
                closed_at: NOW,
                fingerprint: 1,
                is_folded: false,
            };
            let number = chime_store::summaries::member_number(tx, row.key, said[4].sender.id)?;
            let of = |kind, text: &str, seq| Bullet { kind, ..Bullet::fact(text, vec![Seq(seq)]) };
            let bullets = vec![
                of(BulletKind::Decision, "the thai place is booked on saturday", 3),
                of(BulletKind::Task, "ben books the thai place", 4),
                of(BulletKind::Fact, &DEPOSIT.replace("ann", &format!("{{u{number}}}")), 5),
                of(BulletKind::Question, "does the thai place keep the deposit?", 5),
            ];
            let built = |bullets| Summary {
                bullets,
                tokens: 20,
                method: SummaryMethod::Extract,
                model: String::new(),
                built_at: NOW,
            };
            sessions::save(tx, &session)?;
            assert!(save_mini(tx, &session, &built(bullets.clone()))?);
            let embedder = Arc::new(Embedder::shipped().expect("it can be read"));
            let vector = embedder.embed(&bullets[2].text);
            assert!(summary_vectors::save(tx, session.id, NOW, embedder.name(), &vector)?);
            for done in [Seq(3), Seq(4)] {
                item_marks::mark(tx, row.key, done, true, NOW)?;
            }
            let request = RecallRequest {
                conversation: Conversation { chat: ChatKey(1), forum_topic: None },
                text,
                now,
                zone: Zone::UTC,
                by: said[0].sender.id,
                before: Seq(1_000),
            };
            Recaller::new(Some(embedder)).look(tx, &request)?.best(tx, &HashSet::new(), &ToldLines::of(recent.iter()))
        })
        .await
        .unwrap()
}

/// Returns a line of a summary in a prompt, which rests on these messages.
fn told(text: &str, messages: &[u32]) -> Citable {
    let ground = |seq: &u32| SourceMessage {
        message: Seq(*seq),
        name: "ann".to_owned(),
        is_own: false,
        sent_at: DAY_ONE,
        link: None,
    };
    Citable {
        id: SourceId::summary(messages[0]),
        name: "Summary".to_owned(),
        is_own: false,
        sent_at: DAY_ONE,
        text: text.to_owned(),
        link: None,
        rests_on: messages.iter().map(ground).collect(),
    }
}

fn lines(found: &Recalled) -> Vec<String> {
    let bullets = found.sessions.iter().flat_map(|session| &session.bullets);
    bullets.map(|one| one.state.labelled(&one.bullet)).collect()
}

#[tokio::test]
async fn what_a_summary_says_is_recalled_with_names_unless_recent_says_it() {
    let text = "how much was the deposit for the thai place?";
    let found = recalled_of_summaries(None, text, NOW).await;
    let session = &found.sessions[0];
    assert_eq!(session.bullets[2].bullet.text, DEPOSIT);
    assert_eq!(session.grounds.iter().map(|stored| stored.seq.0).collect::<Vec<_>>(), [3, 4, 5]);
    assert!(session.retrieved.summary > 0.3 && found.messages[0].retrieved.summary > 0.3, "{found:?}");
    let found = recalled_of_summaries(Some(DEPOSIT), text, NOW).await;
    assert!(!lines(&found).iter().any(|line| line == DEPOSIT), "{found:?}");
    assert!(found.messages.iter().any(|one| one.message.seq == Seq(5)), "{found:?}");
    let found = recalled_of_summaries(Some("friends of food went out"), text, NOW).await;
    assert!(lines(&found).iter().any(|line| line == DEPOSIT), "Recent says little of it: {found:?}");
}

#[tokio::test]
async fn recalled_lines_have_their_kind_and_state() {
    let text = "how much was the deposit for the thai place?";
    let replaced = "decision, replaced later: the thai place is booked on saturday";
    let done = "task, done: ben books the thai place";
    let found = recalled_of_summaries(None, text, THE_SIXTH).await;
    assert_eq!(lines(&found), [replaced, done, DEPOSIT, "question, open: does the thai place keep the deposit?"]);
    let found = recalled_of_summaries(None, text, NOW).await;
    assert_eq!(lines(&found)[3], "question: does the thai place keep the deposit?", "years later");
}

#[tokio::test]
async fn a_day_alone_brings_the_summaries_of_the_talks_that_ended_then() {
    let found = recalled_of_summaries(None, "what was said yesterday?", THE_SIXTH).await;
    let [session] = found.sessions.as_slice() else { panic!("{found:?}") };
    assert!(session.bullets[2].bullet.text == DEPOSIT && session.retrieved.date == 1.0, "{session:?}");
    for text in ["what was said two days ago?", "what did Cat say yesterday?", "what was said on friday?"] {
        let found = recalled_of_summaries(None, text, THE_SIXTH).await;
        assert!(found.sessions.is_empty(), "{text}: {found:?}");
    }
    let found = recalled_of_summaries(Some(DEPOSIT), "what was said yesterday?", THE_SIXTH).await;
    assert!(!lines(&found).iter().any(|line| line == DEPOSIT), "Recent says it: {found:?}");
}
