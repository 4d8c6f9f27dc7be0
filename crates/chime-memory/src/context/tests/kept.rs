//! The cached messages equal freshly read ones after any change.

use super::*;
use crate::context::newest::Newest;
use chime_core::{ChatId, ChatKey, Conversation, Migration, Origin, Seq};
use chime_store::family::OptOutScope;
use chime_store::{Writer, chat_migration, consent};

const KEY: ChatKey = ChatKey(1);
const HERE: Conversation = Conversation { chat: KEY, thread: None };

/// Texts of the messages before one, and the number of marks before them.
type Shown = (Vec<String>, usize);

async fn shown(store: &Store, readings: &Arc<Readings>, here: Conversation, before: i64) -> Shown {
    let readings = Arc::clone(readings);
    let read = store.read(move |conn| {
        let moment = messages::find_any(conn, CHAT, MessageId(before))?
            .map(|stored| (stored.message.sent_at, stored.message.id))
            .unwrap_or((Timestamp::from_secs(i64::MAX), MessageId(i64::MAX)));
        readings.with_newest(conn, here, moment, |before| {
            assert_eq!(before.messages.len(), before.marks.len());
            Ok((before.messages.iter().map(|it| it.message.text.clone()).collect(), before.earlier.len()))
        })
    });
    read.await.unwrap()
}

async fn change(store: &Store, work: impl FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static) {
    store.write(Priority::Background, work).await.unwrap();
}

/// Compares cached with freshly read messages at the end of the conversation and further back.
async fn check(store: &Store, kept: &Arc<Readings>, here: Conversation, what: &str) -> Shown {
    for before in [i64::MAX, 440, 425, 300] {
        let anew = shown(store, &Arc::new(Readings::new(None)), here, before).await;
        assert_eq!(shown(store, kept, here, before).await, anew, "{what}, before {before}");
    }
    shown(store, kept, here, i64::MAX).await
}

#[tokio::test]
async fn whatever_changes_is_read_anew() {
    let (_folder, store) = chat((1..=440).map(|number| message(number, 60))).await;
    let kept = Arc::new(Readings::new(None));
    let mut last = check(&store, &kept, HERE, "at first").await;
    assert_eq!((last.0.len(), last.1), (200, 200));
    let seq = |number: i64| Seq(u32::try_from(number).unwrap());
    let author = message(430, 60).sender.id;
    let later = START.plus(Duration::from_secs(90_000_000));
    type Change = Box<dyn FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send>;
    let taken = |message: Message| -> Change {
        Box::new(move |tx| {
            let chat = chats::find(tx, CHAT)?.unwrap();
            messages::take_in(tx, &chat, &message).map(drop)
        })
    };
    let edited = Message { text: "Sorry, the lamp".to_owned(), edited_at: Some(later), ..message(435, 60) };
    let late = Message { text: "said long ago".to_owned(), origin: Origin::Import, ..message(436, 60) };
    let late = Message { id: MessageId(900), ..late };
    let changes: [(&str, Change); 8] = [
        ("a message behind the others", taken(message(441, 60))),
        ("an edit", taken(edited)),
        ("a message of an earlier day", taken(late)),
        (
            "a message that is forgotten",
            Box::new(move |tx| {
                let stored = messages::any_by_seq(tx, KEY, seq(433))?.unwrap();
                messages::blank(tx, &stored)
            }),
        ),
        ("a message that is deleted", Box::new(move |tx| messages::delete(tx, KEY, seq(432)))),
        (
            "a member opts out",
            Box::new(move |tx| consent::opt_out(tx, OptOutScope::Chat(KEY), author, later).map(drop)),
        ),
        ("a member opts in", Box::new(move |tx| consent::opt_in(tx, OptOutScope::Chat(KEY), author))),
        (
            "a member opts out everywhere",
            Box::new(move |tx| consent::opt_out(tx, OptOutScope::EveryChat, author, later).map(drop)),
        ),
    ];
    for (what, work) in changes {
        change(&store, work).await;
        let now = check(&store, &kept, HERE, what).await;
        assert_ne!(now, last, "{what} is seen");
        last = now;
    }
}

#[tokio::test]
async fn a_chat_that_is_given_the_number_of_another_is_not_taken_for_it() {
    let (_folder, store) = chat((1..=30).map(|number| message(number, 60))).await;
    let kept = Arc::new(Readings::new(None));
    assert_eq!(check(&store, &kept, HERE, "the first chat").await.0.len(), 30);
    change(&store, |tx| {
        (1..=30).try_for_each(|seq| messages::delete(tx, KEY, Seq(seq)))?;
        tx.execute_batch("DELETE FROM member; DELETE FROM chat_alias; DELETE FROM chat;")?;
        let chat = Chat { id: ChatId(-77), kind: ChatKind::Supergroup, title: None, username: None };
        let row = chats::upsert(tx, &chat)?;
        assert_eq!(row.key, KEY, "SQLite gives it out again");
        (1..=40).try_for_each(|number| {
            let said = Message { chat: chat.id, text: "elsewhere".to_owned(), ..message(number, 60) };
            messages::take_in(tx, &row, &said).map(drop)
        })
    })
    .await;
    let (texts, _) = check(&store, &kept, HERE, "the second").await;
    assert!(texts.len() == 40 && texts.iter().all(|text| text == "elsewhere"), "{texts:?}");
}

#[tokio::test]
async fn a_chat_that_joins_another_is_read_anew() {
    let (_folder, store) = chat((1..=30).map(|number| message(number, 60))).await;
    let kept = Arc::new(Readings::new(None));
    check(&store, &kept, HERE, "before").await;
    change(&store, |tx| {
        let into = Chat { id: ChatId(-1_000_001), kind: ChatKind::Supergroup, title: None, username: None };
        let row = chats::upsert(tx, &into)?;
        let said = Message { chat: into.id, text: "after the move".to_owned(), ..message(31, 60) };
        messages::take_in(tx, &row, &said)?;
        chat_migration::migrate(tx, Migration { from: CHAT, to: into.id })
    })
    .await;
    let both = store.read(|conn| Ok(chats::find(conn, CHAT)?.unwrap().key)).await.unwrap();
    let (texts, _) = check(&store, &kept, Conversation { chat: both, thread: None }, "after").await;
    assert_eq!(texts.len(), 31);
}

#[tokio::test]
async fn what_came_since_is_put_behind_the_others_and_nothing_is_read_twice() {
    let (_folder, store) = chat((1..=250).map(|number| message(number, 60))).await;
    let read = async |known: Option<Newest>| store.read(move |conn| Newest::read(conn, HERE, known)).await.unwrap();
    let first = read(None).await;
    take_in(&store, (251..=253).map(|number| message(number, 60)).collect()).await;
    let extended = read(Some(first)).await;
    let moment = |number| (message(number, 60).sent_at, MessageId(number));
    let ids = |newest: &Newest, before: i64| {
        let before = newest.before(moment(before)).unwrap();
        let id = |place: usize| before.messages[place].message.id.0;
        (id(0), id(before.messages.len() - 1), before.earlier.len())
    };
    assert_eq!(ids(&extended, 254), (54, 253, 53));
    assert_eq!(ids(&extended, 252), (52, 251, 51), "an older trigger finds its own");
    assert_eq!(format!("{:?}", extended.before(moment(254))), format!("{:?}", read(None).await.before(moment(254))));
}
