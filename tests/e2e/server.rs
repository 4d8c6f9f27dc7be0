//! Model servers of every size: slow ones, small ones, and those with one slot.

use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{AnswerStatus, JobKind, MessageId, Zone};
use chime_runtime::clock::Clock;
use chime_sandbox::{BotAction, ChatMemberStatus, Cursor, NewMember, Post};
use chime_store::jobs;
use chime_testkit::{ModelServer, Reply};
use chime_world::World;
use serde_json::{Value, json};

const SECOND: Duration = Duration::from_secs(1);
/// Long timeouts, since the clock runs ahead of the model.
const PATIENT: [(&str, &str); 2] = [("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];

/// Makes the server report facts as llama.cpp does, and the daemon request them.
async fn serve(w: &mut World, props: Value) {
    w.model.tell_of_itself(props);
    w.restart().await;
    w.model.script(["Hello."]);
    let tag = w.say("ann", "@bot hello?");
    w.answer_to(tag).await;
}

/// Moves the clock until the bot has sent this many messages to the group.
async fn until_sent(w: &World, count: usize) {
    for _ in 0..600 {
        if w.telegram.sent_by_bot(w.chat).len() >= count {
            return;
        }
        w.clock.advance(SECOND);
        w.clock.sleep(Duration::from_millis(20)).await;
    }
    panic!("the bot has sent no more than {} messages", w.telegram.sent_by_bot(w.chat).len());
}

/// Returns the text of the message once it is no placeholder any more.
async fn becomes(w: &World, id: MessageId) -> String {
    let held = &texts("eng").one_moment;
    let mut cursor = Cursor::default();
    loop {
        let (action, next) = w.telegram.next_from_bot(cursor).await;
        cursor = next;
        match action {
            BotAction::Edited(message) if message.id == id && message.text != *held => return message.text,
            _ => {}
        }
    }
}

#[tokio::test]
async fn in_a_group_a_message_holds_the_place_of_an_answer_that_takes_a_while() {
    World::with(&PATIENT, async |w| {
        w.model.script([Reply::Held("On Friday.".to_owned())]);
        w.say("ben", "we leave on friday");
        let tag = w.say("ann", "@bot when?");
        w.prompt(1).await;
        w.clock.advance(7 * SECOND);
        w.clock.sleep(Duration::from_millis(100)).await;
        assert!(w.telegram.sent_by_bot(w.chat).is_empty(), "it may come any moment");
        w.clock.advance(2 * SECOND);
        let held = w.answer_to(tag).await;
        assert_eq!(held.text, texts("eng").one_moment);
        w.model.release();
        let answer = becomes(w, held.id).await;
        assert!(answer.starts_with("On Friday"), "{answer}");
        w.settled().await;
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 1, "it becomes the answer");
        w.record_of(&held).await;
    })
    .await;
}

#[tokio::test]
async fn the_wait_for_a_second_call_counts_with_the_first() {
    World::with(&PATIENT, async |w| {
        w.model.script([Reply::Held("[1]".to_owned()), Reply::Held("On Friday.".to_owned())]);
        w.say("ben", "we leave on friday");
        let tag = w.say("ann", "@bot when?");
        w.prompt(1).await;
        w.clock.advance(5 * SECOND);
        w.model.release();
        w.prompt(2).await;
        w.clock.advance(4 * SECOND);
        let held = w.answer_to(tag).await;
        assert_eq!(held.text, texts("eng").one_moment);
        w.model.release();
        assert!(becomes(w, held.id).await.starts_with("On Friday"));
        w.settled().await;
        w.record_of(&held).await;
    })
    .await;
}

#[tokio::test]
async fn after_a_crash_the_answer_takes_the_place_that_was_held() {
    World::with(&PATIENT, async |w| {
        w.model.script([Reply::Hang, Reply::text("On Friday.")]);
        let tag = w.say("ann", "@bot when?");
        w.prompt(1).await;
        w.clock.advance(9 * SECOND);
        let held = w.answer_to(tag).await;
        w.restart().await;
        assert!(becomes(w, held.id).await.starts_with("On Friday."));
        w.settled().await;
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn nothing_holds_the_place_of_an_answer_that_comes_too_late() {
    World::with(&PATIENT, async |w| {
        w.model.script([Reply::Hang]);
        let tag = w.say("ann", "@bot when?");
        w.prompt(1).await;
        w.clock.advance(9 * SECOND);
        let held = w.answer_to(tag).await;
        w.stop().await;
        w.clock.advance(3600 * SECOND);
        w.start().await;
        w.settled().await;
        assert!(w.telegram.message(w.chat, held.id).is_none());
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn a_server_with_one_slot_is_asked_one_thing_at_a_time() {
    World::with(&PATIENT, async |w| {
        serve(w, json!({"total_slots": 1})).await;
        w.model.script([Reply::Held("On Friday.".to_owned()), Reply::text("In Rome.")]);
        w.say("ann", "@bot when?");
        w.prompt(2).await;
        w.say("ben", "@bot where?");
        // Both members see a placeholder.
        until_sent(w, 3).await;
        assert_eq!(w.model.requests().len(), 2, "the second waits for the first");
        let held: Vec<MessageId> = w.telegram.sent_by_bot(w.chat)[1..].iter().map(|message| message.id).collect();
        // Waiting for a slot may take longer than a call's timeout.
        w.model.release();
        let mut said = [becomes(w, held[0]).await, becomes(w, held[1]).await];
        said.sort();
        assert!(said[0].starts_with("In Rome.") && said[1].starts_with("On Friday."), "{said:?}");
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn a_fallback_on_a_server_of_its_own_holds_no_slot_of_the_main_one() {
    let other = ModelServer::start(Clock::system()).await.expect("start the other server");
    let place = format!("small@{}", other.base_url());
    World::with(&[("MODEL_FALLBACK", place.as_str())], async |w| {
        serve(w, json!({"total_slots": 1})).await;
        other.script([Reply::Held("On Friday.".to_owned())]);
        w.model.script([Reply::Status(404, "no such model".to_owned()), Reply::text("In Rome.")]);
        let first = w.say("ann", "@bot when?");
        other.wait_for_requests(1).await.expect("the fallback is asked");
        let second = w.say("ben", "@bot where?");
        assert!(w.answer_to(second).await.text.starts_with("In Rome."));
        other.release();
        assert!(w.answer_to(first).await.text.starts_with("On Friday."));
    })
    .await;
}

/// Subscribes the group to a daily recap, has a member say something, and moves the clock to the time of the recap.
async fn until_recap(w: &mut World) {
    let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
    let asked = w.telegram.say(w.chat, Post::new(eve, "/recap@bot daily 18:00", w.clock.now()));
    w.answer_to(asked).await;
    w.say("ann", "we decided: the red tent comes along to the lake");
    w.settled().await;
    let today = Zone::UTC.local(w.clock.now()).date_naive();
    let tomorrow = (today + chrono::Days::new(1)).and_hms_opt(18, 1, 0).expect("a time");
    w.clock.advance(Zone::UTC.moment(tomorrow).since(w.clock.now()));
}

#[tokio::test]
async fn a_recap_on_the_fallback_makes_room_there_for_an_answer() {
    let other = ModelServer::start(Clock::system()).await.expect("start the other server");
    other.tell_of_itself(json!({"total_slots": 1}));
    let place = format!("small@{}", other.base_url());
    World::with(&[PATIENT[0], PATIENT[1], ("MODEL_FALLBACK", place.as_str())], async |w| {
        serve(w, json!({"total_slots": 1})).await;
        let down = || Reply::Status(404, "no such model".to_owned());
        w.model.script([down(), down(), down()]);
        other.script([Reply::Held("- never [m1]".to_owned()), Reply::text("In Rome."), Reply::text("- a tent [m5]")]);
        until_recap(w).await;
        other.wait_for_requests(1).await.expect("the fallback is asked for the recap");
        let asked = w.say("ben", "@bot where?");
        assert!(w.answer_to(asked).await.text.starts_with("In Rome."));
        w.clock.advance(60 * SECOND);
        let recap = w.next_sent().await.text;
        assert!(recap.contains("a tent"), "{recap}");
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn a_recap_gives_way_to_answers_for_an_hour_and_is_then_made_without_the_model() {
    World::with(&PATIENT, async |w| {
        serve(w, json!({"total_slots": 1})).await;
        until_recap(w).await;
        w.model.script([Reply::Held("- never [m1]".to_owned()), Reply::text("On Friday.")]);
        w.prompt(2).await;
        let asked = w.say("ben", "@bot and?");
        assert!(w.answer_to(asked).await.text.starts_with("On Friday."));
        let now = w.clock.now();
        w.until("the recap is put off", move |conn| {
            Ok(!jobs::due(conn, now, 9, 9)?.iter().any(|job| job.kind() == JobKind::ChatRecap))
        })
        .await;
        w.clock.advance(3600 * SECOND);
        w.model.script([Reply::Held("- never [m1]".to_owned()), Reply::text("In Rome.")]);
        w.prompt(4).await;
        w.say("ben", "@bot and?");
        // The recap no longer waits, so either may be sent first.
        let sent = [w.next_sent().await.text, w.next_sent().await.text];
        assert!(sent.iter().any(|text| text.starts_with("In Rome.")), "{sent:?}");
        assert!(sent.iter().any(|text| text.contains("red tent")), "{sent:?}");
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn prompt_and_answer_never_exceed_the_context_of_the_server() {
    for tokens in ["auto", "6000"] {
        within_the_context(tokens).await;
    }
}

async fn within_the_context(tokens: &str) {
    const CONTEXT: usize = 2048;
    World::with(&[("CONTEXT_TOKENS", tokens)], async |w| {
        serve(w, json!({"total_slots": 4, "default_generation_settings": {"n_ctx": CONTEXT}})).await;
        for n in 0..120 {
            w.say(
                "ben",
                &format!(
                    "point {n}: we should pack the blue tent, the stove and the maps before we leave for the lake"
                ),
            );
        }
        w.model.always("- Ben wants to pack the blue tent [m2]");
        let tag = w.say("ann", "@bot what should we pack, and why?");
        let answer = w.answer_to(tag).await.text;
        assert!(answer.contains("Ben wants to pack"), "{tokens}: {answer}");
        let recap = w.say("ann", "/recap 24h");
        w.answer_to(recap).await;
        let requests = w.model.requests();
        assert!(requests.len() > 4, "the recap was read in parts: {}", requests.len());
        for request in &requests[1..] {
            // By the scripted model's count.
            let words = request["messages"].to_string().len() / 4;
            let answer = request["max_tokens"].as_u64().expect("a limit");
            assert!(words + usize::try_from(answer).expect("a number") <= CONTEXT, "{words} + {answer}");
        }
    })
    .await;
}

/// A small model makes up a number rather than say that it does not know. It gives another one each time.
#[tokio::test]
async fn a_number_that_a_small_model_makes_up_is_not_sent() {
    World::with(&[("MODEL", "tiny-1.5b")], async |w| {
        w.say("ben", "the caterer comes for a tasting on Monday");
        w.say("cat", "the caterer makes soup");
        w.model.script(["The caterer costs 200 pounds.", "The caterer costs 350 pounds.", "It is 500 pounds."]);
        let tag = w.say("ann", "@bot what does the caterer cost?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.starts_with(&texts("eng").made_up), "{}", answer.text);
        assert!(answer.text.contains("tasting on Monday"), "the nearest message is quoted: {}", answer.text);
        assert!(answer.buttons.is_none(), "the quoted messages are no suggestions to vote on");
        assert_eq!(w.record_of(&answer).await.status, AnswerStatus::MadeUp);
        let why = w.reply("ann", answer.id, "/why@bot");
        let shown = w.answer_to(why).await.text;
        assert!(shown.contains(&texts("eng").why.made_up), "{shown}");
        w.say("ben", "my poster shows Mount Everest");
        w.model.script(["Mount Everest is 8849 m high.", "8849 metres."]);
        let tag = w.say("ann", "@bot how high is Mount Everest?");
        assert!(w.words_to(tag).await.starts_with("Mount Everest is 8849 m high"), "what it knows comes again");
        w.model.script(["The hall costs 1,500 pounds."]);
        w.say("ben", "the hall is 1500 pounds");
        let tag = w.say("ann", "@bot what does the hall cost?");
        assert!(w.words_to(tag).await.starts_with("The hall costs 1,500 pounds"), "the chat says it, in another form");
        w.say("ben", "the band plays jazz");
        w.model.script(["The band costs 900 pounds.", "Nobody said what the band costs."]);
        let tag = w.say("ann", "@bot what does the band cost?");
        assert!(w.words_to(tag).await.starts_with("The band costs 900 pounds"), "no other number was named");
        w.model.script(["The tasting is on Monday at 12:15."]);
        w.say("ben", "at 12:15");
        let tag = w.say("ann", "@bot when is the tasting?");
        assert!(w.words_to(tag).await.starts_with("The tasting is on Monday at 12:15"));
        assert_eq!(w.model.requests().len(), 9, "what the chat says is asked once");
        w.model.script(["Cat's birthday is on 15 May.", "It is on 23 June.", "On 21 August."]);
        let tag = w.say("ann", "@bot when is cat's birthday?");
        assert!(w.words_to(tag).await.starts_with(&texts("eng").made_up), "members are named only as authors");
    })
    .await;
}

/// To a tag without words, the smallest models often answer something that nobody said, or repeat the question.
#[tokio::test]
async fn an_answer_of_a_very_small_model_that_no_message_supports_is_not_sent() {
    World::with(&[("MODEL", "tiny-1.5b")], async |w| {
        w.say("ben", "the ferry leaves at 9:40 from the old harbour");
        let question = w.say("cat", "when do we have to be at the boat?");
        for made_up in ["Yes, that is right.", "cat: when do we have to be at the boat?"] {
            w.model.script([made_up]);
            let tag = w.say("ann", "@bot");
            let answer = w.answer_to(tag).await;
            assert!(answer.text.starts_with(&texts("eng").made_up), "{}", answer.text);
            assert!(answer.text.contains("leaves at 9:40"), "the messages are shown: {}", answer.text);
            assert_eq!(w.record_of(&answer).await.status, AnswerStatus::MadeUp);
        }
        w.model.script(["The boat sails to Norway."]);
        let tag = w.reply("ann", question, "@bot any idea?");
        assert!(w.words_to(tag).await.starts_with(&texts("eng").made_up), "also in a reply");
        for (ask, said) in [
            ("@bot", "The ferry leaves at 9:40 from the old harbour."),
            ("@bot who wrote Emma?", "Jane Austen wrote Emma."),
            ("@bot how do you say boat in German?", "Boot."),
            ("@bot hello", "Hello! How can I help?"),
        ] {
            w.model.script([said]);
            let tag = w.say("ann", ask);
            assert!(w.words_to(tag).await.starts_with(said.trim_end_matches('.')), "{ask}");
        }
        w.model.script(["Blue and wide."]);
        let tag = w.reply("ann", question, "@bot write a line about the sea");
        assert!(w.words_to(tag).await.starts_with("Blue and wide"), "a task in a reply needs no message");
    })
    .await;
    World::with(&[("MODEL", "small-3b")], async |w| {
        w.say("cat", "when do we have to be at the boat?");
        w.model.script(["Whenever you like."]);
        let tag = w.say("ann", "@bot");
        assert_eq!(w.words_to(tag).await, "Whenever you like.", "larger models are right more often");
    })
    .await;
}

#[tokio::test]
async fn a_number_that_may_differ_each_time_is_sent() {
    World::with(&[("MODEL", "tiny-1.5b")], async |w| {
        w.say("ben", "the caterer makes soup");
        for (question, answer) in
            [("@bot pick a random number between 1 and 50", "How about 27?"), ("@bot roll a d20", "You rolled 17.")]
        {
            w.model.script([answer]);
            let tag = w.say("ann", question);
            assert!(w.words_to(tag).await.starts_with(answer), "{question}");
        }
        assert_eq!(w.model.requests().len(), 2, "each is asked once");
    })
    .await;
}

#[tokio::test]
async fn a_short_number_goes_out_if_the_model_fails_when_it_is_asked_again() {
    World::with(&[("MODEL", "tiny-1.5b")], async |w| {
        w.say("ben", "the caterer makes soup");
        w.model.script([Reply::text("The caterer costs 200 pounds."), Reply::Html502, Reply::Html502, Reply::Html502]);
        let tag = w.say("ann", "@bot what does the caterer cost?");
        assert!(w.words_to(tag).await.starts_with("The caterer costs 200 pounds"));
    })
    .await;
}
