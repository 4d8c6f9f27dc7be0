//! Promises of the chat workflow as members see them: no duplicates, no invented sources, no guesses in strict chats, a
//! notice for members who ask too often, and quoted messages if the model fails.
//!
//! Summaries of long talks are tested in `memory`, and the guard of strict chats in `grounding`.

use std::time::Duration;

use chime_testkit::Reply;
use chime_world::World;

const BROKEN: &str = r#"{"error":{"message":"no","type":"server_error"}}"#;

#[tokio::test]
async fn a_message_that_comes_twice_is_answered_once_and_asked_once() {
    World::run(async |w| {
        w.say("ann", "the boat leaves at nine");
        w.model.script(["At nine."]);
        let tag = w.say("ben", "@bot when does the boat leave exactly?");
        let update = w.telegram.latest_update().expect("an update");
        w.telegram.duplicate(update);
        assert!(w.answer_to(tag).await.text.starts_with("At nine"));
        w.telegram.duplicate(update);
        w.settled().await;
        assert_eq!(w.model.requests().len(), 1);
        let prompt = w.prompt(1).await;
        assert_eq!(prompt.matches("when does the boat leave exactly?").count(), 1, "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_source_that_does_not_exist_is_taken_out_and_said_to_be() {
    World::run(async |w| {
        let said = w.say("ann", "the boat leaves at nine");
        w.model.script(["At nine [source: m1], says the crew [source: m4711]."]);
        let tag = w.reply("ben", said, "@bot when does the boat leave?");
        let answer = w.answer_to(tag).await;
        let text = "At nine [1], says the crew.\n\n(Removed invalid citation)\n\nSources: [1] ann";
        assert!(answer.text.starts_with(text), "{}", answer.text);
        let sources = w.record_of(&answer).await.sources;
        assert_eq!(sources.iter().map(|source| source.id.as_str()).collect::<Vec<_>>(), ["m1"]);
        assert_eq!(sources[0].text, "the boat leaves at nine");
    })
    .await;
}

#[tokio::test]
async fn whoever_asks_too_often_is_told_when_to_ask_again() {
    World::with(&[("RATE_LIMIT", "2/5m")], async |w| {
        w.model.script(["One.", "Two."]);
        for name in ["ann", "ben"] {
            let tag = w.say(name, "@bot thoughts?");
            w.answer_to(tag).await;
        }
        let tag = w.say("cat", "@bot thoughts?");
        let shown = w.answer_to(tag).await.text;
        assert!(shown.contains("Please ask again in 5 minutes"), "{shown}");
        assert_eq!(w.model.requests().len(), 2);
    })
    .await;
}

#[tokio::test]
async fn a_model_that_keeps_failing_is_left_alone_and_the_messages_are_shown() {
    World::run(async |w| {
        w.say("ann", "the boat leaves at nine");
        w.model.always(Reply::Status(400, BROKEN.to_owned()));
        let (mut shown, mut asked) = (Vec::new(), Vec::new());
        for _ in 0..7 {
            let tag = w.say("ben", "@bot when does the boat leave?");
            let text = w.answer_to(tag).await.text;
            assert!(text.contains("Here are the relevant messages:"), "{text}");
            assert!(text.contains("“the boat leaves at nine” [1]"), "{text}");
            shown.push(text.lines().take(3).collect::<Vec<_>>().join("\n"));
            asked.push(w.model.requests().len());
        }
        assert_eq!(asked[4], asked[6], "after five failures no model is asked: {asked:?}");
        assert!(shown[6].starts_with("The model server refuses my requests"), "{shown:?}");
        assert!(shown[5..].iter().all(|text| text == &shown[5]), "{shown:?}");
        w.model.script(["At nine."]);
        w.clock.advance(Duration::from_secs(40));
        let tag = w.say("ben", "@bot when does the boat leave?");
        assert!(w.answer_to(tag).await.text.starts_with("At nine"), "and it is tried again");
    })
    .await;
}
