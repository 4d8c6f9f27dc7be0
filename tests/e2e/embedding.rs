//! Vectors from a server: fetched in the background, stored, and deleted with their messages.

use std::time::Duration;

use chime_core::{ChatKey, Conversation, MessageId, Timestamp};
use chime_store::vectors;
use chime_world::World;

const SERVER: &[(&str, &str)] = &[("EMBEDDING", "openai:letters")];

const HERE: Conversation = Conversation { chat: ChatKey(1), forum_topic: None };
const LATER: (Timestamp, MessageId) = (Timestamp::END, MessageId(i64::MAX));

/// Returns the ids of the group's messages with a vector.
async fn with_vectors(w: &World) -> Vec<MessageId> {
    let found = w.read_store(|conn| vectors::before(conn, HERE, LATER, "letters", 100)).await;
    let mut ids: Vec<MessageId> = found.into_keys().map(|(_, id)| id).collect();
    ids.sort_unstable();
    ids
}

async fn until_there_are(w: &World, count: usize) {
    w.until("there are vectors", move |conn| Ok(vectors::before(conn, HERE, LATER, "letters", 100)?.len() >= count))
        .await;
}

#[tokio::test]
async fn vectors_are_fetched_once_kept_over_a_restart_and_gone_with_their_words() {
    World::with(SERVER, async |w| {
        let said = ["the boiler is loud again", "call the plumber", "pizza on friday?"];
        let ids = [w.say("ann", said[0]), w.say("ben", said[1]), w.say("ann", said[2])];
        until_there_are(w, 3).await;
        w.restart().await;
        w.model.script(["The plumber comes."]);
        let tag = w.reply("cat", ids[1], "@bot when does he come?");
        w.answer_to(tag).await;
        until_there_are(w, 5).await;
        let embedded = w.model.embedded();
        for text in said {
            assert_eq!(embedded.iter().filter(|it| *it == text).count(), 1, "{embedded:?}");
        }
        let forget = w.reply("ben", ids[1], "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        let left = with_vectors(w).await;
        assert!(!left.contains(&ids[1]) && left.contains(&ids[0]), "{left:?}");
        let out = w.say("ann", "/optout@bot");
        w.answer_to(out).await;
        w.settled().await;
        let left = with_vectors(w).await;
        assert!(!left.contains(&ids[0]) && !left.contains(&ids[2]), "{left:?}");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_makes_no_vectors_delays_no_answer_and_is_asked_again() {
    World::with(SERVER, async |w| {
        w.model.refuse_to_embed(true);
        w.say("ann", "who has the key?");
        w.say("ben", "Olga has it");
        w.model.script(["Olga."]);
        let tag = w.say("cat", "@bot who?");
        w.answer_to(tag).await;
        for _ in 0..500 {
            if w.model.embedded().is_empty() {
                w.clock.sleep(Duration::from_millis(20)).await;
            }
        }
        assert!(!w.model.embedded().is_empty(), "the server was asked");
        assert_eq!(with_vectors(w).await, []);
        w.model.refuse_to_embed(false);
        w.clock.advance(Duration::from_secs(60));
        until_there_are(w, 3).await;
    })
    .await;
}

#[tokio::test]
async fn personal_data_goes_to_no_server_for_a_vector_unless_the_operator_says_so() {
    for (redact, sent) in
        [("summaries", "write to [email] about the boiler"), ("off", "write to ann@example.org about the boiler")]
    {
        World::with(&[SERVER[0], ("REDACT", redact)], async |w| {
            w.say("ann", "write to ann@example.org about the boiler");
            until_there_are(w, 1).await;
            assert_eq!(w.model.embedded(), [sent]);
        })
        .await;
    }
}
