//! Token budgets, and a model that keeps failing.

use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{AnswerRecord, MessageId, Reason, Timestamp, UserId};
use chime_sandbox::{BotAction, NewChat};
use chime_store::{chats, usage};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::{Value, json};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns a good answer with this token count.
pub fn answer_for(tokens: u64) -> Reply {
    Reply::Body(json!({
        "id": "c1", "object": "chat.completion", "created": 1_763_632_800, "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Sure."}}],
        "usage": {"prompt_tokens": tokens - 10, "completion_tokens": 10, "total_tokens": tokens},
    }))
}

async fn ask_for(w: &mut World, name: &str, tokens: u64) {
    w.model.script([answer_for(tokens)]);
    let trigger = w.say(name, "@bot thoughts?");
    assert_eq!(w.answer_to(trigger).await.text, "Sure.");
}

async fn is_reacted_to(w: &World, message: MessageId) -> bool {
    w.settled().await;
    w.telegram.message(w.chat, message).is_some_and(|message| !message.reactions.is_empty())
}

fn model_asked_last(w: &World) -> Option<String> {
    w.model.requests().last().and_then(|request| request.get("model").and_then(Value::as_str).map(str::to_owned))
}

#[tokio::test]
async fn a_model_that_counts_more_than_we_do_is_given_less_also_after_a_restart() {
    World::with(&[("CONTEXT_TOKENS", "400")], async |w| {
        let lines: String = (1..12)
            .map(|n| {
                format!("10:{n:02} p{n}#{}>{n} the boat on the lake needs paint, a new sail and {n} ropes\n", n + 1)
            })
            .collect();
        let last = w.play(&format!("10:00 p0#1 who sees to the boat on the lake?\n{lines}")).pop().expect("a message");
        let mut counts = Vec::new();
        for _ in 0..2 {
            w.model.script([answer_for(9_000)]);
            let tag = w.reply("zoe", last, "@bot what does the boat need?");
            let answer = w.answer_to(tag).await;
            // Recalled messages have a budget of their own.
            let window = w.record_of(&answer).await.window;
            counts.push(window.iter().filter(|chosen| chosen.reason != Reason::Query).count());
            w.restart().await;
        }
        assert!(counts[1] < counts[0], "{counts:?}");
    })
    .await;
}

#[tokio::test]
async fn a_chat_that_used_up_its_day_is_told_once_and_answered_again_tomorrow() {
    World::with(&[("DAILY_TOKENS_PER_CHAT", "1000")], async |w| {
        ask_for(w, "Ana", 1000).await;
        let second = w.say("Bob", "@bot and me?");
        let shown = w.answer_to(second).await.text;
        assert!(shown.starts_with("This chat has used up its budget for today. Please ask again in "), "{shown}");
        let third = w.say("Cat", "@bot hello?");
        assert!(is_reacted_to(w, third).await);
        w.restart().await;
        let fourth = w.say("Dan", "@bot still?");
        assert!(is_reacted_to(w, fourth).await, "a restart gives nothing back");
        assert_eq!(w.model.requests().len(), 1);
        w.clock.advance(DAY);
        ask_for(w, "Ana", 500).await;
    })
    .await;
}

#[tokio::test]
async fn a_member_who_used_up_their_day_leaves_the_others_theirs() {
    World::with(&[("DAILY_TOKENS_PER_MEMBER", "1k")], async |w| {
        ask_for(w, "Ana", 1200).await;
        let again = w.say("Ana", "@bot more?");
        assert!(w.answer_to(again).await.text.starts_with("You have used up your budget for today."));
        ask_for(w, "Bob", 100).await;
    })
    .await;
}

#[tokio::test]
async fn near_the_cap_the_window_shrinks_and_the_cheaper_model_answers() {
    let settings = [("DAILY_TOKENS", "1000"), ("MODEL_FALLBACK", "cheaper"), ("CONTEXT_TOKENS", "200")];
    World::with(&settings, async |w| {
        w.play(
            "
            10:00 ann#1 shall we take the small table at the window or the long one in the back room on Friday?
            10:01 bob#2 the long one, since Dan brings his sister and her two friends from the choir with him
            10:02 ann#3 then somebody has to call before noon, they never keep the long one for us otherwise
            10:03 cat#4 I can call, but I do not have the number, and last time nobody picked up at all
            10:04 bob#5 the number is on their page, below the map, next to the hours and the picture of the cat
            10:05 ann#6 and ask about the terrace too, it should be dry on Friday evening if the forecast holds
            ",
        );
        w.model.script([answer_for(800)]);
        let first = w.say("Ana", "@bot who calls?");
        let first = w.answer_to(first).await;
        let ample = w.record_of(&first).await;
        assert_eq!(model_asked_last(w).as_deref(), Some("scripted"));
        w.model.script([answer_for(100)]);
        let second = w.say("Ana", "@bot who calls?");
        let second = w.answer_to(second).await;
        let tight = w.record_of(&second).await;
        assert_eq!(model_asked_last(w).as_deref(), Some("cheaper"));
        assert_eq!(tight.model, "cheaper");
        let context = |record: &AnswerRecord| record.slots.iter().find(|slot| slot.name == "context").cloned();
        let (ample, tight) = (context(&ample).expect("a context").tokens, context(&tight).expect("a context").tokens);
        assert!(tight < ample, "{tight} and {ample} tokens of the talk");
    })
    .await;
}

#[tokio::test]
async fn what_was_spent_is_kept_with_its_price() {
    World::with(&[("PRICE_IN", "0.40"), ("PRICE_OUT", "1.60")], async |w| {
        ask_for(w, "Ana", 1010).await;
        ask_for(w, "Bob", 1010).await;
        let (chat, now, ana) = (w.chat, w.clock.now(), w.member("Ana"));
        let spent = w.read_store(move |conn| spent(conn, chat, now, ana)).await;
        assert_eq!(spent, (2020, 2020, 1010, 2 * (400 + 16)));
    })
    .await;
}

fn spent(
    conn: &chime_store::Reader,
    chat: chime_core::ChatId,
    now: Timestamp,
    user: UserId,
) -> chime_store::Result<(u64, u64, u64, u64)> {
    let row = chats::find(conn, chat)?.expect("a chat");
    let spent = usage::spent(conn, now, row.key, user)?;
    Ok((spent.total, spent.of_chat, spent.of_member, usage::of_day(conn, now)?.cost_micros))
}

#[tokio::test]
async fn a_model_that_keeps_failing_is_left_alone_and_the_messages_are_shown_instead() {
    World::run(async |w| {
        let said = w.say("Ana", "shall we take the long table on Friday?");
        let refused = Reply::Status(401, r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#.to_owned());
        w.model.script(vec![refused; 5]);
        for _ in 0..6 {
            let trigger = w.reply("Bob", said, "@bot thoughts?");
            let apology = w.answer_to(trigger).await;
            assert!(apology.text.starts_with("The model server does not accept my key"), "{}", apology.text);
            assert!(apology.text.contains("the long table"), "{}", apology.text);
            let link = format!("/{said}");
            assert!(apology.entities.iter().any(|entity| format!("{:?}", entity.kind).contains(&link)));
        }
        assert_eq!(w.model.requests().len(), 5, "the sixth did not reach the model");
        w.clock.advance(Duration::from_secs(31));
        w.model.script(["Sure."]);
        let trigger = w.say("Bob", "@bot thoughts?");
        assert_eq!(w.answer_to(trigger).await.text, "Sure.");
        let acted = w.telegram.actions_since(chime_sandbox::Cursor::default());
        assert!(!acted.iter().any(|action| matches!(action, BotAction::Reacted { .. })));
    })
    .await;
}

#[tokio::test]
async fn counts_that_no_integer_holds_lose_no_answer() {
    World::with(
        &[("DAILY_TOKENS", "off"), ("DAILY_TOKENS_PER_CHAT", "off"), ("DAILY_TOKENS_PER_MEMBER", "off")],
        async |w| {
            let used = |tokens: Value| {
                Reply::Body(json!({
                    "choices": [{"finish_reason": "stop", "message": {"content": "Sure."}}],
                    "usage": {"prompt_tokens": tokens.clone(), "completion_tokens": tokens},
                }))
            };
            let counts = [json!(u64::MAX), json!(i64::MAX), json!(1e300), json!(-5), json!("many"), json!(20)];
            w.model.script(counts.into_iter().map(used));
            for _ in 0..6 {
                let tag = w.say("ann", "@bot thoughts?");
                assert_eq!(w.answer_to(tag).await.text, "Sure.");
            }
        },
    )
    .await;
}

/// A refusal costs nothing; an answer that broke off was charged.
#[tokio::test]
async fn failed_and_cut_calls_count_as_well() {
    World::with(&[("MODEL_TIMEOUT", "5s")], async |w| {
        let broken = [vec![Reply::Truncated("On Fri".to_owned())], vec![Reply::text(" "), Reply::text(" ")]];
        for replies in broken {
            let now = w.clock.now();
            let before = w.read_store(move |conn| usage::of_day(conn, now)).await.tokens;
            w.model.script(replies);
            let trigger = w.say("ann", "@bot when do we leave?");
            let answer = w.answer_to(trigger).await;
            w.record_of(&answer).await;
            let after = w.read_store(move |conn| usage::of_day(conn, now)).await.tokens;
            assert!(after.prompt > before.prompt, "{before:?} {after:?} after {:?}", answer.text);
            w.clock.advance(Duration::from_secs(300));
        }
    })
    .await;
}

#[tokio::test]
async fn owners_are_told_once_a_day_that_the_model_server_refuses() {
    World::run(async |w| {
        let owner = w.member("olga");
        w.telegram.add_chat(NewChat::private("olga"));
        w.set("OWNER_IDS", &owner.to_string());
        w.restart().await;
        // A withheld answer concerns one question.
        w.model.script([Reply::Filtered]);
        let tag = w.say("ann", "@bot thoughts?");
        w.answer_to(tag).await;
        w.settled().await;
        let refused = || Reply::Status(401, r#"{"error":{"message":"no","code":"invalid_api_key"}}"#.to_owned());
        let mut shown = Vec::new();
        for days in [0, 0, 1] {
            w.clock.advance(DAY * days);
            w.model.script([refused()]);
            w.say("ann", "@bot thoughts?");
            let mut sent = vec![w.next_sent().await];
            if days > 0 || shown.is_empty() {
                sent.push(w.next_sent().await);
            }
            shown.extend(sent.into_iter().filter(|message| message.chat != w.chat));
            w.settled().await;
        }
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown.iter().all(|message| message.chat.0 == owner.0));
        let words = "To you as the owner: I cannot answer anybody at the moment, because the model server refused \
                     (HTTP 401, invalid_api_key): check OPENAI_API_KEY.";
        assert!(shown[0].text.starts_with(words), "{}", shown[0].text);
    })
    .await;
}

#[tokio::test]
async fn an_answer_tells_how_much_of_the_talk_it_did_not_read() {
    World::with(&[("CONTEXT_TOKENS", "300")], async |w| {
        let text = "the boat needs a new mast, a sail, two oars and a lot of paint before we can take it out again";
        let mut last = w.say("ann", text);
        for number in 0..20 {
            last = w.reply(["ben", "ann"][number % 2], last, &format!("{number}: {text}"));
        }
        w.model.script(["Paint it first."]);
        let tag = w.reply("cat", last, "@bot where do we begin with the boat?");
        let answer = w.answer_to(tag).await.text;
        let shown = texts("eng").digest.left_out.split('{').next().expect("words");
        assert!(answer.starts_with("Paint it first") && answer.contains(shown), "{answer}");
    })
    .await;
}
