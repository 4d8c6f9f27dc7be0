//! Tools: the model searches the chat before it answers.

use std::time::Duration;

use chime_core::{EntityKind, Reason};
use chime_sandbox::{NewChat, Post};
use chime_store::{answers, memory};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3600);

fn tools_of(request: &Value) -> Vec<&str> {
    let offered = request["tools"].as_array().into_iter().flatten();
    offered.filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

/// Returns the results of the tools in a request.
fn results(request: &Value) -> String {
    let messages = request["messages"].as_array().into_iter().flatten();
    let of_tools = messages.filter(|message| message["role"] == "tool");
    of_tools.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Posts a fact without the words of the questions below, then lets days pass with other talk.
async fn long_ago(w: &World) -> (chime_core::MessageId, String) {
    let fact = w.say("ann", "I parked the trailer behind grandma's barn, the padlock opens with 7193");
    w.settled().await;
    w.clock.advance(72 * HOUR);
    w.say("ben", "soup is on");
    more_than_the_window_looks_at(w).await;
    let seq = w.stored(w.chat, fact).await.expect("it is stored").seq;
    (fact, format!("m{seq}"))
}

async fn more_than_the_window_looks_at(w: &World) {
    for round in 0..210 {
        w.say(
            "ben",
            &format!("round {round}: the lake is calm today, the boat is old, and nobody wants to go fishing"),
        );
    }
    w.settled().await;
}

#[tokio::test]
async fn a_tool_finds_what_the_window_missed_and_the_answer_cites_it() {
    // By vectors, the fact would be among the nearest of so few messages.
    World::with(&[("EMBEDDING", "off")], async |w| {
        let (fact, id) = long_ago(w).await;
        w.model.script([
            Reply::Tools(vec![("search_messages", json!({"query": "trailer padlock"}))]),
            Reply::text(format!("It opens with 7193 [source: {id}].")),
        ]);
        let tag = w.say("cat", "@bot can you help me out tomorrow?");
        let answer = w.answer_to(tag).await;
        let requests = w.model.requests();
        assert_eq!(
            tools_of(&requests[0]),
            ["search_messages", "get_smart_context", "get_reply_chain", "get_messages", "get_session_summaries"]
        );
        assert!(!w.prompt(1).await.contains("7193"), "the window does not hold it");
        let found = results(&requests[1]);
        assert!(found.contains("7193") && found.starts_with("<<<chat ") && found.contains("] ann ("), "{found}");

        let record = w.record_of(&answer).await;
        assert!(record.window.iter().any(|chosen| chosen.id == fact && chosen.reason == Reason::Tool));
        assert!(record.slots.iter().any(|slot| slot.name == "tool.search_messages" && slot.sources == [id.clone()]));
        let leads_there =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{fact}")));
        assert!(answer.entities.iter().any(|entity| leads_there(&entity.kind)), "{:?}", answer.entities);
        let why = w.reply("cat", answer.id, "/why");
        assert!(w.answer_to(why).await.text.contains("looked up for the answer, cited"));

        // The answer is based on the tool's result, and is deleted with it.
        let forget = w.reply("ann", fact, "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        assert!(w.read_store(move |conn| answers::find(conn, record.id)).await.is_none());
    })
    .await;
}

#[tokio::test]
async fn the_model_looks_up_three_times_at_most() {
    World::run(async |w| {
        let (_, id) = long_ago(w).await;
        let look = |name, arguments| Reply::Tools(vec![(name, arguments)]);
        w.model.script([
            look("get_messages", json!({"ids": [id]})),
            look("get_reply_chain", json!({"id": id})),
            look("get_smart_context", json!({"before": "m3", "max_gap_minutes": 30})),
            Reply::text(format!("Behind the barn [source: {id}].")),
        ]);
        let tag = w.say("cat", "@bot where is the vehicle?");
        w.answer_to(tag).await;
        let requests = w.model.requests();
        assert_eq!(requests.iter().map(|request| tools_of(request).len()).collect::<Vec<_>>(), [5, 5, 5, 0]);
        assert!(results(&requests[1]).contains("grandma") && results(&requests[2]).contains("grandma"));
        // If no tools are offered, results are sent as plain text.
        assert_eq!(results(&requests[3]), "");
        let shown = w.prompt(4).await;
        assert!(shown.contains("soup is on") && shown.contains("get_smart_context"), "{shown}");
    })
    .await;
}

#[tokio::test]
async fn a_server_without_tools_is_asked_without_them_from_then_on() {
    World::run(async |w| {
        long_ago(w).await;
        w.say("ann", "the code is 4711");
        let refusal = json!({"error": {"message": "scripted does not support tools", "type": "api_error"}});
        w.model.script([Reply::Status(400, refusal.to_string()), Reply::text("4711."), Reply::text("Still 4711.")]);
        let tag = w.say("ben", "@bot what is the code?");
        assert!(w.words_to(tag).await.starts_with("4711"));
        let tag = w.say("ben", "@bot and now?");
        assert!(w.words_to(tag).await.starts_with("Still 4711"));
        let offered: Vec<usize> = w.model.requests().iter().map(|request| tools_of(request).len()).collect();
        assert_eq!(offered, [5, 0, 0]);
        // Remembered over a restart, and tried again after a day.
        w.restart().await;
        w.model.script([Reply::text("4711, as before.")]);
        let tag = w.say("ben", "@bot and this evening?");
        w.words_to(tag).await;
        w.clock.advance(Duration::from_secs(25 * 3600));
        w.model.script([Reply::text("Today 4712.")]);
        let tag = w.say("ben", "@bot and today?");
        w.words_to(tag).await;
        let offered: Vec<usize> = w.model.requests().iter().map(|request| tools_of(request).len()).collect();
        assert_eq!(offered, [5, 0, 0, 0, 5]);
    })
    .await;
}

#[tokio::test]
async fn no_tool_shows_what_may_not_be_read_or_is_of_another_chat() {
    World::run(async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Other"));
        let dan = w.telegram.add_member(other, "dan");
        w.telegram.say(other, Post::new(dan, "the trailer is sold, zqother7xk", w.clock.now()));
        w.settled().await;
        let out = w.say("eve", "the trailer has a flat tyre, zqout7xk");
        let (_, _) = long_ago(w).await;
        let optout = w.say("eve", "/optout");
        w.answer_to(optout).await;
        w.settled().await;
        w.model.script([
            Reply::Tools(vec![
                ("search_messages", json!({"query": "trailer"})),
                ("get_messages", json!({"ids": ["m1", "m2", "m3", "m4", "m9999"]})),
                ("get_reply_chain", json!({"id": "m1"})),
                ("get_smart_context", json!({"anchor_id": "m2", "max_gap_minutes": 10000})),
                ("search_messages", json!({"query": "one too many"})),
            ]),
            Reply::Tools(vec![("delete_chat", json!({})), ("search_messages", json!("trailer"))]),
            Reply::text("I do not know."),
        ]);
        let tag = w.say("cat", "@bot what about the vehicle?");
        w.answer_to(tag).await;
        let found = results(&w.model.requests()[2]);
        assert!(found.contains("grandma") && found.contains("Too many calls"), "{found}");
        assert!(found.contains("There is no such tool.") && found.contains("The arguments are not"), "{found}");
        assert!(!found.contains("zqother7xk") && !found.contains("zqout7xk"), "{found}");
        assert!(w.stored(w.chat, out).await.is_none());
    })
    .await;
}

#[tokio::test]
async fn a_search_is_narrowed_to_a_member_and_to_days() {
    World::run(async |w| {
        let day = |w: &World| w.clock.now().to_utc().date_naive().to_string();
        let first = day(w);
        w.say("ann", "I parked the trailer behind grandma's barn");
        w.settled().await;
        w.clock.advance(72 * HOUR);
        let second = day(w);
        w.say("ben", "the trailer stands in the garage now");
        w.settled().await;
        w.clock.advance(72 * HOUR);
        more_than_the_window_looks_at(w).await;
        for (arguments, wanted, other) in [
            (json!({"query": "trailer", "from": "Ann"}), "grandma", "garage"),
            // A name may be shortened, and a result that is whole does not claim to be cut.
            (json!({"query": "trailer", "from": "an"}), "grandma", "More was found"),
            (json!({"query": "trailer", "from": "ben"}), "garage", "the lake is calm"),
            (json!({"query": "trailer", "since": second}), "garage", "grandma"),
            (json!({"query": "trailer", "until": first}), "grandma", "garage"),
            (json!({"from": "ben", "since": first, "until": second}), "garage", "grandma"),
            (json!({"since": first, "until": first}), "grandma", "garage"),
        ] {
            w.model.script([Reply::Tools(vec![("search_messages", arguments.clone())]), Reply::text("There.")]);
            let tag = w.say("cat", "@bot where is it?");
            w.answer_to(tag).await;
            let found = w.model.requests().last().map(results).unwrap_or_default();
            assert!(found.contains(wanted) && !found.contains(other), "{arguments}: {found}");
        }
    })
    .await;
}

#[tokio::test]
async fn summaries_are_looked_up_by_tag_and_time() {
    World::with(&[("MEMORY", "on")], async |w| {
        for (name, text) in crate::memory::TALK {
            w.say(name, text);
        }
        w.settled().await;
        let day = w.clock.now().to_utc().date_naive().to_string();
        let decided = w.all_stored(w.chat).await.remove(2).seq;
        w.clock.advance(2 * HOUR);
        w.until("the session is summarized", |conn| Ok(!memory::chats_with_extracts(conn, "scripted")?.is_empty()))
            .await;
        w.settled().await;
        w.model.improvise(|_| Reply::text("- nothing [m1]"));
        for (arguments, is_found) in [
            (json!({"tag": "Tents"}), true),
            (json!({"tag": "boiler"}), false),
            (json!({"period": day[..7]}), true),
            (json!({"period": format!("{day}..{day}"), "tag": "tent"}), true),
            (json!({"period": "2001-01"}), false),
        ] {
            w.model.script([Reply::Tools(vec![("get_session_summaries", arguments.clone())]), Reply::text("Red.")]);
            let before = w.model.requests().len();
            let tag = w.say("dan", "@bot what was it?");
            w.answer_to(tag).await;
            let shown = w.prompt(before + 2).await;
            assert_eq!(shown.contains(&format!("[s{decided}] (")), is_found, "{arguments}: {shown}");
        }
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_summary_that_was_looked_up_is_cited_by_the_messages_it_rests_on() {
    World::with(&[("MEMORY", "on"), ("TOOL_ROUNDS", "1")], async |w| {
        let talk = [
            ("ann", "shall we take the red tent or the green tent to the lake?"),
            ("bob", "the green tent has a hole near the door since the storm in May"),
            ("cat", "then we decided: the red tent comes along, and ann packs 3 ropes"),
            ("ann", "agreed, I'll bring the red tent and the ropes on Friday at 18:30"),
        ];
        for (name, text) in talk {
            w.say(name, text);
        }
        w.settled().await;
        w.clock.advance(2 * HOUR);
        w.until("the session is summarized", |conn| Ok(!memory::chats_with_extracts(conn, "scripted")?.is_empty()))
            .await;
        w.settled().await;
        let decided = w.all_stored(w.chat).await.remove(2);
        let id = format!("s{}", decided.seq);
        w.model.script([
            Reply::Tools(vec![("get_session_summaries", json!({"about": "which tent"}))]),
            Reply::text(format!("The red tent [source: {id}].")),
        ]);
        let tag = w.say("dan", "@bot what do we sleep in?");
        let answer = w.answer_to(tag).await;
        let found = w.prompt(2).await;
        assert!(found.contains(&format!("[{id}] (")), "{found}");
        for line in ["decision: cat: then we decided: the red tent comes along", "decision: ann: agreed, I'll bring"] {
            assert!(found.contains(line), "{found}");
        }
        let link = format!("/{}", decided.message.id);
        let leads_there = |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&link));
        assert!(answer.entities.iter().any(|entity| leads_there(&entity.kind)), "{:?}", answer.entities);
    })
    .await;
}
