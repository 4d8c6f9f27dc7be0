//! A failing model in other situations: while streaming, after a tool call, and with a fallback model. Each question
//! ends in one visible reply.

use std::time::Duration;

use chime_sandbox::SandboxMessage;
use chime_store::reply_streams;
use chime_testkit::Reply;
use chime_world::World;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::faults::failures;
use crate::process::Process;

const APOLOGY: &str = "I could not get an answer from the model just now.";
const SHORT: [(&str, &str); 2] = [("MODEL_TIMEOUT", "500ms"), ("ANSWER_DEADLINE", "3s")];
const STREAMING: (&str, &str) = ("STREAMING", "all");
/// Long enough to be shown before the end arrives.
const BEGINNING: &str = "They want to leave on Friday evening after work, all of them together in the red boat of Ann, \
                         and Ben brings the bread for everybody";

/// Situation in which the model fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Streaming,
    AfterATool,
    StreamingAfterATool,
}

impl Manner {
    fn streams(self) -> bool {
        matches!(self, Self::Streaming | Self::StreamingAfterATool)
    }

    fn looks_up(self) -> bool {
        matches!(self, Self::AfterATool | Self::StreamingAfterATool)
    }
}

fn tool_call() -> Reply {
    Reply::Tools(vec![("search_messages", json!({"query": "nine"}))])
}

async fn ends_in_one_apology(options: Manner, reply: Reply) {
    let mut settings = SHORT.to_vec();
    if options.streams() {
        settings.push(STREAMING);
    }
    World::with(&settings, async |w| {
        w.say("ben", "Nine of us will come");
        if options.looks_up() {
            w.model.script([tool_call()]);
        }
        w.model.always(reply.clone());
        let tag = w.say("ann", "@bot how many?");
        w.answer_to(tag).await;
        w.settled().await;
        let said = w.telegram.sent_by_bot(w.chat);
        let texts: Vec<&str> = said.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(said.len(), 1, "{options:?} {reply:?}: {texts:?}");
        assert!(texts[0].starts_with(APOLOGY), "{options:?} {reply:?} ends in {texts:?}");
        assert!(texts[0].contains("Nine of us will come"), "it shows what it would have answered from: {texts:?}");
        // Three attempts of the failing call, and the call before it.
        let asked = w.model.requests().len();
        assert!(asked <= 3 + usize::from(options.looks_up()), "{options:?} {reply:?}: {asked} requests");
        w.model.release();
    })
    .await;
}

#[tokio::test]
async fn whatever_the_model_does_while_it_is_watched_a_question_ends_in_one_visible_reply() {
    let stalled = Reply::Stream(vec![BEGINNING.to_owned(), " and".to_owned()]);
    let broken = Reply::BrokenStream(vec![BEGINNING.to_owned()]);
    let all = failures().into_iter().chain([stalled, broken]);
    join_all(all.map(|reply| ends_in_one_apology(Manner::Streaming, reply))).await;
}

#[tokio::test]
async fn whatever_the_model_does_after_it_looked_something_up_a_question_ends_in_one_visible_reply() {
    join_all(failures().into_iter().map(|reply| ends_in_one_apology(Manner::AfterATool, reply))).await;
}

#[tokio::test]
async fn whatever_the_model_does_after_both_a_question_ends_in_one_visible_reply() {
    let stalled = Reply::Stream(vec![BEGINNING.to_owned(), " and".to_owned()]);
    let all = failures().into_iter().chain([stalled]);
    join_all(all.map(|reply| ends_in_one_apology(Manner::StreamingAfterATool, reply))).await;
}

/// Fails for the first model; the fallback calls a tool and then answers.
fn first_is_gone(request: &Value) -> Reply {
    let has_looked = request["messages"].as_array().into_iter().flatten().any(|message| {
        let actual = message["content"].as_str().is_some_and(|text| text.contains("\n\nWhat you looked up"));
        message["role"] == "tool" || actual
    });
    match (request["model"].as_str(), has_looked) {
        (Some("other"), true) => Reply::text("Nine [source: m1]."),
        (Some("other"), false) => tool_call(),
        _ => gone(request),
    }
}

/// Returns an error that is not retried, so that a failure is one call.
fn gone(_: &Value) -> Reply {
    Reply::Status(404, r#"{"error":{"message":"no such model","code":"model_not_found"}}"#.to_owned())
}

async fn ask(w: &mut World) -> SandboxMessage {
    let tag = w.say("ann", "@bot how many?");
    let first = w.answer_to(tag).await;
    w.settled().await;
    w.telegram.message(w.chat, first.id).expect("it is there")
}

#[tokio::test]
async fn the_other_model_answers_with_tools_and_streaming_and_the_breaker_minds_both() {
    World::with(&[("MODEL_FALLBACK", "other"), STREAMING], async |w| {
        w.say("ben", "Nine of us will come");
        w.model.improvise(first_is_gone);
        // More failures than the breaker allows; they do not count, since the fallback answered.
        for _ in 0..7 {
            let answer = ask(w).await;
            assert!(answer.text.starts_with("Nine [1]."), "{}", answer.text);
            assert_eq!(w.record_of(&answer).await.model, "other");
        }
        w.model.improvise(gone);
        let refused = "The model server does not know my model";
        for _ in 0..5 {
            assert!(ask(w).await.text.starts_with(refused));
        }
        let asked = w.model.requests().len();
        let shown = ask(w).await;
        assert!(shown.text.starts_with(refused), "no better because of the breaker: {}", shown.text);
        assert_eq!(w.model.requests().len(), asked, "neither model is asked");
        w.model.improvise(first_is_gone);
        w.clock.advance(Duration::from_secs(40));
        assert!(ask(w).await.text.starts_with("Nine [1]."), "and it is tried again");
        let texts: Vec<String> = w.telegram.sent_by_bot(w.chat).into_iter().map(|message| message.text).collect();
        assert_eq!(texts.len(), 14, "one reply each: {texts:?}");
    })
    .await;
}

/// Kills the daemon after the first words of an answer.
async fn killed_while_it_writes(w: &mut World, is_noted: bool) -> Vec<String> {
    w.set(STREAMING.0, STREAMING.1);
    w.model.script([Reply::Stream(vec![BEGINNING.to_owned(), " and".to_owned()])]);
    let first = Process::start(w).await;
    w.say("ben", "Nine of us will come");
    let tag = w.say("ann", "@bot when do they leave?");
    let shown = w.answer_to(tag).await.text;
    assert!(shown.starts_with("They want to leave") && shown.ends_with('…'), "{shown}");
    if is_noted {
        let key = format!("answer:{}:{tag}", w.chat);
        let noted = move |conn: &chime_store::Reader| {
            Ok(reply_streams::find(conn, &key)?.is_some_and(|it| it.message.is_some()))
        };
        w.until("the message is noted", noted).await;
    }
    first.kill();
    w.model.script(["On Friday evening at nine."]);
    let _second = Process::start(w).await;
    w.settled().await;
    w.ignore_what_was_sent();
    w.telegram.sent_by_bot(w.chat).into_iter().map(|message| message.text).collect()
}

#[tokio::test]
async fn killed_in_the_middle_of_a_stream_there_is_one_whole_answer() {
    World::without_daemon(async |w| {
        let said = killed_while_it_writes(w, true).await;
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("On Friday evening at nine"), "{said:?}");
    })
    .await;
}

/// Nobody can know which message has the words, so they stay and are no answer.
#[tokio::test]
async fn killed_between_the_first_words_and_their_record_there_is_one_whole_answer() {
    World::without_daemon(async |w| {
        w.telegram.fault("sendMessage", chime_sandbox::faults::Fault::HangAfter, 1);
        let said = killed_while_it_writes(w, false).await;
        let whole: Vec<&String> = said.iter().filter(|text| !text.ends_with('…')).collect();
        assert_eq!((said.len(), whole.len()), (2, 1), "{said:?}");
        assert!(whole[0].starts_with("On Friday evening at nine"), "{said:?}");
        w.telegram.release();
    })
    .await;
}
