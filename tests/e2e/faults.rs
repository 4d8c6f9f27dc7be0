//! Faults around the daemon: every question still has one visible outcome.

use std::process::Command;
use std::time::Duration;

use chime_core::{ChatId, MessageId, Timestamp};
use chime_sandbox::faults::{FOREVER, Fault, ReceivedCall};
use chime_sandbox::{ChatMemberStatus, NewChat, Post, Sandbox};
use chime_store::outbox::{self, State};
use chime_testkit::Reply;
use chime_world::World;
use futures::future::join_all;
use rusqlite::Connection;

use crate::process::Process;

const APOLOGY: &str = "I could not get an answer from the model just now.";
const UNAUTHORIZED: &str = r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#;
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn server_error() -> Fault {
    Fault::Status(500, r#"{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}"#.to_owned())
}

/// Returns the error page of a proxy.
fn gateway(status: u16) -> Fault {
    Fault::Status(status, "<html><body>Sorry</body></html>".to_owned())
}

fn calls_of(w: &World, method: &str) -> Vec<ReceivedCall> {
    w.telegram.calls().into_iter().filter(|call| call.is(method)).collect()
}

// Polling.

#[tokio::test]
async fn polling_recovers_from_every_fault() {
    let conflict = r#"{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}"#;
    let faults = [
        (server_error(), 3),
        (gateway(502), 3),
        (gateway(401), 3),
        (Fault::Status(401, UNAUTHORIZED.to_owned()), 1),
        (Fault::DropBefore, 3),
        (Fault::DropAfter, 3),
        (Fault::Garbage, 3),
        (Fault::Truncated, 3),
        (Fault::Throttle(1), 2),
        (Fault::Status(409, conflict.to_owned()), 3),
        (Fault::Status(200, r#"{"ok":true,"result":{"no":"list"}}"#.to_owned()), 2),
        (Fault::Hang, 1),
        (Fault::HangAfter, 1),
    ];
    join_all(faults.into_iter().map(|(fault, times)| polling_recovers(fault, times))).await;
}

async fn polling_recovers(fault: Fault, times: usize) {
    World::with(&[("POLL_TIMEOUT", "1s")], async |w| {
        w.settled().await;
        let before = calls_of(w, "getUpdates").len();
        w.telegram.fault("getUpdates", fault.clone(), times);
        // The first fault ends the current poll; the others hit the next ones.
        let asked_at = w.clock.now();
        w.model.script(["One.", "Two."]);
        let first = w.say("ann", "@bot one?");
        w.telegram.called("getUpdates", before + 1).await;
        let second = w.say("ann", "@bot two?");
        let mut answered = [w.next_sent().await.reply_to, w.next_sent().await.reply_to];
        answered.sort();
        assert_eq!(answered, [Some(first), Some(second)], "{fault:?}");
        let took = w.clock.now().since(asked_at);
        assert!(took < Duration::from_secs(40), "{fault:?} held everything up for {took:?}");
        let polls = calls_of(w, "getUpdates");
        assert!(polls.len() < before + times + 8, "{fault:?}: a busy loop of {} polls", polls.len());
        if fault == Fault::Throttle(1) {
            let pauses = polls.windows(2).filter(|pair| pair[1].at.since(pair[0].at) >= SECOND).count();
            assert!(pauses >= times, "429 was not obeyed");
        }
    })
    .await;
}

#[tokio::test]
async fn a_portal_that_wants_a_login_ends_no_daemon() {
    World::without_daemon(async |w| {
        w.telegram.fault("getMe", gateway(401), 1);
        w.telegram.fault("getMe", Fault::Status(401, UNAUTHORIZED.to_owned()), 1);
        Process::start(w).await.terminate();
    })
    .await;
}

#[tokio::test]
async fn a_server_on_this_machine_is_never_asked_through_a_proxy() {
    World::without_daemon(async |w| {
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
            // Nothing listens on this port.
            w.set(name, "http://127.0.0.1:9");
        }
        w.model.script(["Nine."]);
        let _process = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.words_to(tag).await, "Nine.");
        w.settled().await;
    })
    .await;
}

// Sending.

/// Result for one answer while `fault` hits `times` sends.
struct Delivered {
    copies: usize,
    sends: Vec<Timestamp>,
}

/// Time that the daemon waits before it repeats a send that may have arrived.
const OUTAGE: Duration = Duration::from_secs(10);

/// Waits until a send of the answer to `tag` has an unknown outcome, and lets the outage pass.
async fn past_an_outage(w: &World, tag: MessageId) {
    let key = format!("answer:{}:{tag}", w.chat);
    w.until("a send of unknown outcome is counted", move |conn| {
        Ok(outbox::parts(conn, &key)?.iter().any(|part| part.unknown_sends == 1 && part.state == State::Pending))
    })
    .await;
    w.clock.advance(OUTAGE);
}

async fn answer_with(fault: Fault, times: usize) -> Delivered {
    let mut delivered = Delivered { copies: 0, sends: Vec::new() };
    // Short if the test waits for it, long if a busy machine must not exceed it.
    let timeout = if matches!(fault, Fault::Hang | Fault::HangAfter) { "3s" } else { "30s" };
    World::with(&[("SEND_TIMEOUT", timeout)], async |w| {
        w.telegram.fault("sendMessage", fault.clone(), times);
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        w.model.wait_for_requests(1).await.expect("the model is asked");
        if matches!(
            fault,
            Fault::DropAfter | Fault::DropBefore | Fault::Garbage | Fault::Truncated | Fault::Hang | Fault::HangAfter
        ) {
            past_an_outage(w, tag).await;
        }
        w.settled().await;
        let copies = w.telegram.sent_by_bot(w.chat);
        assert!(copies.iter().all(|copy| copy.text == "Nine." && copy.reply_to == Some(tag)), "{fault:?}");
        delivered.copies = copies.len();
        delivered.sends = calls_of(w, "sendMessage").iter().map(|call| call.at).collect();
        w.ignore_what_was_sent();
        w.telegram.release();
    })
    .await;
    delivered
}

#[tokio::test]
async fn a_send_that_surely_failed_is_repeated_until_it_succeeds() {
    let cases = [(server_error(), 3), (Fault::Throttle(1), 2), (gateway(502), 3), (gateway(503), 3), (gateway(401), 3)];
    let all = join_all(cases.into_iter().map(async |(fault, times)| {
        let delivered = answer_with(fault.clone(), times).await;
        assert_eq!(delivered.copies, 1, "{fault:?}");
        assert_eq!(delivered.sends.len(), times + 1, "{fault:?}");
        if fault == Fault::Throttle(1) {
            for pair in delivered.sends.windows(2) {
                assert!(pair[1].since(pair[0]) >= SECOND, "sent again before retry_after");
            }
        }
    }));
    all.await;
}

#[tokio::test]
async fn a_send_of_unknown_outcome_is_repeated_once() {
    // Telegram handles every send, but its responses are lost: two copies and no third.
    let cases = [Fault::DropAfter, Fault::Garbage, Fault::Truncated, Fault::HangAfter];
    let all = join_all(cases.into_iter().flat_map(|fault| [(fault.clone(), 1), (fault, FOREVER)]).map(
        async |(fault, times)| {
            let delivered = answer_with(fault.clone(), times).await;
            assert_eq!((delivered.copies, delivered.sends.len()), (2, 2), "{fault:?} {times} times");
            assert!(delivered.sends[1].since(delivered.sends[0]) >= OUTAGE, "{fault:?}: the outage may not be over");
        },
    ));
    all.await;
}

#[tokio::test]
async fn a_send_that_did_not_arrive_is_repeated_after_the_outage() {
    let cases = [Fault::DropBefore, Fault::Hang];
    let all = join_all(cases.into_iter().map(async |fault| {
        let delivered = answer_with(fault.clone(), 1).await;
        assert_eq!((delivered.copies, delivered.sends.len()), (1, 2), "{fault:?}");
    }));
    all.await;
}

#[tokio::test]
async fn a_reply_that_is_given_up_leaves_a_reaction() {
    World::run(async |w| {
        w.telegram.fault("sendMessage", gateway(504), FOREVER);
        w.telegram.fault("setMessageReaction", Fault::DropBefore, 1);
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        past_an_outage(w, tag).await;
        assert_eq!(w.next_reaction().await, (tag, vec!["😢".to_owned()]));
        w.settled().await;
        assert_eq!(calls_of(w, "sendMessage").len(), 2);
        assert_eq!(calls_of(w, "setMessageReaction").len(), 2);
    })
    .await;
}

#[tokio::test]
async fn the_one_repeat_waits_until_telegram_answers_again() {
    World::run(async |w| {
        w.telegram.fault("sendMessage", gateway(504), 1);
        w.telegram.fault("getMe", gateway(502), 2);
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        past_an_outage(w, tag).await;
        assert_eq!(w.answer_to(tag).await.text, "Nine.");
        assert_eq!(calls_of(w, "sendMessage").len(), 2);
        // At the start two tries fail and the third succeeds.
        assert_eq!(calls_of(w, "getMe").len(), 4);
    })
    .await;
}

pub fn refused(description: &str) -> Fault {
    Fault::Status(400, format!(r#"{{"ok":false,"error_code":400,"description":"Bad Request: {description}"}}"#))
}

#[tokio::test]
async fn a_reply_that_telegram_refuses_is_sent_without_its_formatting() {
    World::run(async |w| {
        w.telegram.fault("sendMessage", refused("ENTITY_BOUNDS_INVALID"), 1);
        w.model.script(["**Nine** of them."]);
        let tag = w.say("ann", "@bot how many?");
        let answer = w.answer_to(tag).await;
        assert_eq!((answer.text.as_str(), answer.entities.len()), ("Nine of them.", 0));
    })
    .await;
}

#[tokio::test]
async fn a_reply_that_telegram_refuses_in_any_form_leaves_a_reaction() {
    World::run(async |w| {
        w.telegram.fault("sendMessage", refused("message is too long"), FOREVER);
        w.model.script(["**Nine** of them."]);
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.next_reaction().await, (tag, vec!["😢".to_owned()]));
        w.settled().await;
        assert_eq!(calls_of(w, "sendMessage").len(), 2);
    })
    .await;
}

/// Telegram reports migrations that lead back to the first chat.
#[tokio::test]
async fn a_chat_that_is_said_to_move_in_circles_makes_no_storm() {
    World::run(async |w| {
        let circle = format!(
            r#"{{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat",
            "parameters":{{"migrate_to_chat_id":{}}}}}"#,
            w.chat
        );
        w.telegram.fault("sendMessage", Fault::Status(400, circle), 3);
        w.model.script(["Nine."]);
        w.say("ann", "@bot how many?");
        assert_eq!(w.next_sent().await.text, "Nine.");
        let sends = calls_of(w, "sendMessage");
        assert_eq!(sends.len(), 4);
        assert!(sends[2].at.since(sends[1].at) >= SECOND / 2, "a storm");
    })
    .await;
}

#[tokio::test]
async fn a_throttled_chat_holds_up_no_other() {
    World::run(async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Other"));
        w.telegram.fault("sendMessage", Fault::Throttle(2), 1);
        w.model.always("Nine.");
        let slow = w.say("ann", "@bot how many?");
        w.telegram.called("sendMessage", 1).await;
        let quick = w.say_in(other, "ben", "@bot how many?");
        let first = w.next_sent().await;
        assert_eq!((first.chat, first.reply_to), (other, Some(quick)));
        let second = w.next_sent().await;
        assert_eq!((second.chat, second.reply_to), (w.chat, Some(slow)));
    })
    .await;
}

#[tokio::test]
async fn in_a_chat_that_telegram_closes_for_hours_nothing_is_sent_and_no_model_is_called() {
    const WAIT: u64 = 13_938;
    World::run(async |w| {
        w.model.always("Nine.");
        w.telegram.fault("sendMessage", Fault::Throttle(WAIT), 1);
        w.say("ann", "@bot how many?");
        w.telegram.called("sendMessage", 1).await;
        w.settled().await;
        let asked = w.model.requests().len();
        for _ in 0..3 {
            w.say("ben", "@bot how many tables?");
        }
        w.quiet(Duration::from_secs(WAIT)).await;
        let notice = w.next_sent().await;
        assert_eq!(notice.reply_to, None, "{}", notice.text);
        let sends = calls_of(w, "sendMessage");
        assert!(sends.len() == 2 && sends[1].at.since(sends[0].at) >= Duration::from_secs(WAIT), "{sends:?}");
        assert!(calls_of(w, "setMessageReaction").is_empty());
        assert_eq!(w.model.requests().len(), asked);
        let tag = w.say("ben", "@bot and now?");
        assert!(w.answer_to(tag).await.text.starts_with("Nine."));
    })
    .await;
}

#[tokio::test]
async fn a_flood_through_a_throttled_chat_is_answered_to_the_last() {
    const QUESTIONS: usize = 60;
    World::run(async |w| {
        w.model.always("Nine.");
        w.telegram.fault("sendMessage", Fault::Throttle(1), 20);
        let ann = w.member("ann");
        let post = |n: usize| Post::new(ann, format!("@bot question {n}?"), w.clock.now());
        let asked = w.telegram.say_many(w.chat, (0..QUESTIONS).map(post));
        let mut answered = Vec::new();
        for _ in 0..QUESTIONS {
            answered.extend(w.next_sent().await.reply_to);
        }
        answered.sort();
        assert_eq!(answered, asked, "each exactly once");
    })
    .await;
}

// The model.

/// Returns the one visible outcome of a question if the model always replies like this.
async fn ends_in(reply: Reply, expected: &str) {
    World::with(&[("MODEL_TIMEOUT", "500ms"), ("ANSWER_DEADLINE", "3s")], async |w| {
        w.say("ben", "Nine of us will come");
        w.model.always(reply.clone());
        let tag = w.say("ann", "@bot how many?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.starts_with(expected), "{reply:?} ends in {:?}", answer.text);
        if expected == APOLOGY {
            assert!(answer.text.contains("Nine of us will come"), "it shows what it would have answered from");
        }
        w.settled().await;
        assert!(w.model.requests().len() <= 3, "{reply:?}: {} requests", w.model.requests().len());
    })
    .await;
}

/// Returns the failures of the model.
pub fn failures() -> Vec<Reply> {
    vec![
        Reply::Hang,
        Reply::Status(500, r#"{"error":{"message":"boom"}}"#.to_owned()),
        Reply::Status(503, String::new()),
        Reply::Throttle(60),
        Reply::Html502,
        Reply::EmptyChoices,
        Reply::NullChoices,
        Reply::CutBody,
        Reply::CutJson,
        Reply::Garbage,
        Reply::ErrorIn200,
        Reply::Huge(9 * 1024 * 1024),
    ]
}

#[tokio::test]
async fn whatever_the_model_does_a_question_ends_in_one_visible_reply() {
    join_all(failures().into_iter().map(|reply| ends_in(reply, APOLOGY))).await;
    // Repeating the same request does not help.
    for reply in [Reply::Blank, Reply::Filtered] {
        ends_in(reply, "The model server gave no answer that I can show.").await;
    }
    // The answer is complete; only the end marker is missing.
    ends_in(Reply::NoFinish, "They settled on").await;
}

#[tokio::test]
async fn what_asking_again_does_not_mend_is_told_as_such() {
    let wrong_key = Reply::Status(401, r#"{"error":{"message":"no such key","code":"invalid_api_key"}}"#.to_owned());
    ends_in(wrong_key, "The model server does not accept my key").await;
    let wrong_model =
        Reply::Status(404, r#"{"error":{"message":"no such model","code":"model_not_found"}}"#.to_owned());
    ends_in(wrong_model, "The model server does not know my model").await;
    // A wrong address: a web interface answers there.
    ends_in(Reply::Html200, "The model server refuses my requests").await;
    for status in [400, 501] {
        let unexplained = Reply::Status(status, r#"{"error":{"message":"no","code":"model_terms"}}"#.to_owned());
        ends_in(unexplained, "The model server refuses my requests").await;
    }
}

#[tokio::test]
async fn a_huge_answer_is_cut_at_five_parts() {
    World::run(async |w| {
        // One repeated character would be noise.
        let numbers: String = (0..100_000).map(|number| number.to_string()).collect();
        w.model.script([Reply::text(numbers)]);
        let tag = w.say("ann", "@bot how many?");
        for _ in 0..5 {
            assert!(w.answer_to(tag).await.text.starts_with(|c: char| c.is_ascii_digit()));
        }
    })
    .await;
}

#[tokio::test]
async fn a_model_that_comes_back_is_asked_again() {
    World::run(async |w| {
        w.model.script([Reply::Throttle(1), Reply::CutBody, Reply::text("Nine.")]);
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.answer_to(tag).await.text, "Nine.");
    })
    .await;
}

#[tokio::test]
async fn a_hung_model_in_one_chat_holds_up_no_other() {
    // More questions than one chat may have in work at a time.
    const QUESTIONS: usize = 20;
    World::with(&[("MODEL_TIMEOUT", "20s"), ("ANSWER_DEADLINE", "20s")], async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Other"));
        w.model.always(Reply::Hang);
        let asked: Vec<MessageId> = (0..QUESTIONS).map(|n| w.say("ann", &format!("@bot question {n}?"))).collect();
        w.model.wait_for_requests(16).await.expect("as many as one chat may have");
        w.model.always("Nine.");
        let quick = w.say_in(other, "ben", "@bot how many?");
        let first = w.next_sent().await;
        assert_eq!((first.chat, first.reply_to), (other, Some(quick)));
        // A hanging request ends in an apology, and its slots go to waiting questions.
        w.model.release();
        let mut shown = Vec::new();
        for _ in 0..QUESTIONS {
            shown.extend(w.next_sent().await.reply_to);
        }
        shown.sort();
        assert_eq!(shown, asked, "each is told once");
    })
    .await;
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_halved() {
    const TOO_LONG: &str = r#"{"error":{"message":"This model's maximum context length is 4096 tokens.",
        "type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#;
    World::run(async |w| {
        for n in 0..15 {
            w.say("ann", &format!("message {n} with {}", "many words of no great weight ".repeat(30)));
        }
        w.model.script([Reply::Status(400, TOO_LONG.to_owned()), Reply::text("Nine.")]);
        let tag = w.say("ben", "@bot what is it about?");
        assert!(w.answer_to(tag).await.text.starts_with("Nine.\n\n("), "it tells what was left out");
        let window = |prompt: &str| prompt.matches("many words of no great weight").count();
        let (first, second) = (window(&w.prompt(1).await), window(&w.prompt(2).await));
        assert!(second > 0 && second * 3 < first * 2, "the second prompt is no shorter: {first}, {second}");
    })
    .await;
}

// Chats that change while an answer is on its way.

/// Asks in `chat`, runs `change` while the model works, and returns the number of sends of the answer, successful or
/// not.
async fn while_the_model_thinks(
    w: &mut World,
    chat: ChatId,
    tag: Post,
    change: impl FnOnce(&World, MessageId),
) -> usize {
    let before = calls_of(w, "sendMessage").len();
    let asked = w.model.requests().len() + 1;
    w.model.script([Reply::Held("Nine.".to_owned())]);
    let tag = w.telegram.say(chat, tag);
    w.prompt(asked).await;
    change(w, tag);
    w.telegram.all_confirmed().await;
    w.model.release();
    w.settled().await;
    calls_of(w, "sendMessage").len() - before
}

#[tokio::test]
async fn a_bot_that_was_kicked_says_nothing_more_and_goes_nowhere_else() {
    World::run(async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Other"));
        w.say_in(other, "ann", "the bot is here too");
        let tag = Post::new(w.member("ann"), "@bot how many?", w.clock.now());
        assert_eq!(while_the_model_thinks(w, w.chat, tag, |w, _| w.telegram.kick_bot(w.chat)).await, 0);
        assert!(w.telegram.sent_by_bot(other).is_empty() && w.telegram.sent_by_bot(w.chat).is_empty());
        w.telegram.add_bot_to(w.chat, ChatMemberStatus::Member, w.member("ann"));
        w.model.script(["Back."]);
        let tag = w.say("ann", "@bot are you back?");
        assert_eq!(w.answer_to(tag).await.text, "Back.");
    })
    .await;
}

#[tokio::test]
async fn a_bot_that_may_not_write_tries_once() {
    World::run(async |w| {
        let tag = Post::new(w.member("ann"), "@bot how many?", w.clock.now());
        let restrict = |w: &World, _| w.telegram.add_bot_to(w.chat, ChatMemberStatus::Restricted, w.member("ann"));
        assert_eq!(while_the_model_thinks(w, w.chat, tag, restrict).await, 1, "and no storm");
        assert!(w.telegram.sent_by_bot(w.chat).is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_bot_that_may_not_write_reacts_and_calls_no_model_before_it_may() {
    // If Telegram does not tell the bot that it may not send, it learns so from the first refusal.
    for (is_told, calls) in [(true, 0), (false, 1)] {
        World::run(async |w| {
            w.model.always("Nine.");
            if is_told {
                w.telegram.add_bot_to(w.chat, ChatMemberStatus::Restricted, w.member("ann"));
            } else {
                w.chat = w.telegram.add_chat(NewChat::supergroup("Quiet").with_bot(ChatMemberStatus::Restricted));
            }
            w.say("ben", "the hall has nine tables");
            for _ in 0..3 {
                w.say("ann", "@bot how many?");
                w.settled().await;
            }
            assert_eq!(calls_of(w, "setMessageReaction").len(), 3);
            assert_eq!((calls_of(w, "sendMessage").len(), w.model.requests().len()), (calls, calls));
            w.telegram.add_bot_to(w.chat, ChatMemberStatus::Member, w.member("ann"));
            let tag = w.say("ann", "@bot and now?");
            assert!(w.answer_to(tag).await.text.starts_with("Nine"));
        })
        .await;
    }
}

#[tokio::test]
async fn an_answer_whose_question_was_deleted_is_no_reply() {
    World::run(async |w| {
        let tag = Post::new(w.member("ann"), "@bot how many?", w.clock.now());
        assert_eq!(while_the_model_thinks(w, w.chat, tag, |w, tag| w.telegram.delete(w.chat, tag)).await, 1);
        let answer = w.next_sent().await;
        assert_eq!((answer.chat, answer.reply_to), (w.chat, None));
    })
    .await;
}

#[tokio::test]
async fn an_answer_to_a_closed_or_deleted_topic_lands_nowhere_else() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let ann = w.telegram.add_member(club, "ann");
        for end in [Sandbox::close_topic, Sandbox::delete_topic] {
            let topic = w.telegram.create_topic(club, "Food");
            let tag = Post::new(ann, "@bot how many?", w.clock.now()).in_forum_topic(topic);
            assert_eq!(while_the_model_thinks(w, club, tag, |w, _| end(&w.telegram, club, topic)).await, 1);
        }
        assert!(w.telegram.sent_by_bot(club).is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_a_closed_topic_refuses_leaves_a_reaction() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let ann = w.telegram.add_member(club, "ann");
        let topic = w.telegram.create_topic(club, "Food");
        w.model.script([Reply::Held("Nine.".to_owned())]);
        let tag = w.telegram.say(club, Post::new(ann, "@bot how many?", w.clock.now()).in_forum_topic(topic));
        w.prompt(1).await;
        w.telegram.close_topic(club, topic);
        w.model.release();
        assert_eq!(w.next_reaction().await, (tag, vec!["😢".to_owned()]));
        assert!(w.telegram.sent_by_bot(club).is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_a_private_topic_refuses_goes_to_the_same_person_without_it() {
    World::run(async |w| {
        let desk = w.telegram.add_chat(NewChat { forum: true, ..NewChat::private("ann") });
        let topic = w.telegram.create_topic(desk, "Food");
        w.model.script([Reply::Held("Nine.".to_owned())]);
        let ann = w.telegram.add_member(desk, "ann");
        w.telegram.say(desk, Post::new(ann, "how many?", w.clock.now()).in_forum_topic(topic));
        w.prompt(1).await;
        w.telegram.close_topic(desk, topic);
        w.model.release();
        let sent = w.next_sent().await;
        assert_eq!((sent.chat, sent.forum_topic), (desk, None));
        assert!(sent.text.starts_with("Nine."), "{}", sent.text);
    })
    .await;
}

#[tokio::test]
async fn an_answer_follows_its_group_into_the_supergroup() {
    World::run(async |w| {
        let group = w.telegram.add_chat(NewChat::group("Small"));
        w.say_in(group, "ben", "Nine of us will come");
        w.model.script([Reply::Held("Nine.".to_owned())]);
        w.say_in(group, "ann", "@bot how many?");
        w.prompt(1).await;
        let supergroup = w.telegram.migrate(group);
        w.telegram.all_confirmed().await;
        w.model.release();
        let answer = w.next_sent().await;
        assert_eq!((answer.chat, answer.text.starts_with("Nine")), (supergroup, true), "{}", answer.text);
        w.settled().await;
        assert!(calls_of(w, "sendMessage").len() <= 2, "the old address once at most");

        w.model.script(["Still nine."]);
        let tag = w.say_in(supergroup, "ann", "@bot how many of us will come now?");
        assert_eq!(w.answer_to(tag).await.chat, supergroup);
        assert!(w.prompt(2).await.contains("Nine of us will come"), "the memory of the group goes on");
    })
    .await;
}

/// The update about the migration is late; the error of the send reports it first.
#[tokio::test]
async fn an_answer_follows_its_group_before_the_update_tells_of_it() {
    World::run(async |w| {
        let group = w.telegram.add_chat(NewChat::group("Small"));
        w.model.script([Reply::Held("Nine.".to_owned())]);
        w.say_in(group, "ann", "@bot how many?");
        w.prompt(1).await;
        let polls = calls_of(w, "getUpdates").len();
        w.telegram.fault("getUpdates", Fault::DropBefore, 2);
        let supergroup = w.telegram.migrate(group);
        w.telegram.called("getUpdates", polls + 1).await;
        w.model.release();
        assert_eq!(w.next_sent().await.chat, supergroup);
    })
    .await;
}

// Time and load.

#[tokio::test]
async fn a_clock_that_jumps_a_day_loses_no_job() {
    World::run(async |w| {
        w.model.script([Reply::Hang]);
        // In a group a placeholder message would come before the answer.
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let tag = w.say_in(private, "ann", "how many?");
        w.prompt(1).await;
        w.clock.advance(DAY);
        assert!(w.answer_to(tag).await.text.starts_with(APOLOGY), "its deadline is over");
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many now?");
        assert_eq!(w.answer_to(tag).await.text, "Nine.");
        w.restart().await;
        w.model.script(["Ten."]);
        let tag = w.say("ann", "@bot and after a restart?");
        assert_eq!(w.answer_to(tag).await.text, "Ten.");
    })
    .await;
}

#[tokio::test]
async fn a_machine_whose_clock_is_a_day_ahead_takes_no_question_for_old() {
    World::run(async |w| {
        w.set_daemon_ahead(DAY);
        w.restart().await;
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.answer_to(tag).await.text, "Nine.");
    })
    .await;
}

/// Waits until the answer to `tag` is scheduled for another send.
async fn put_off(w: &World, tag: MessageId) {
    let key = format!("answer:{}:{tag}", w.chat);
    w.until("a part waits to be sent again", move |conn| {
        Ok(outbox::parts(conn, &key)?.iter().any(|part| part.state == State::Pending))
    })
    .await;
}

/// The machine's clock was a day ahead, and a time service corrects it.
#[tokio::test]
async fn a_clock_that_is_set_back_holds_up_no_reply() {
    let faults = [(gateway(503), 3), (Fault::Throttle(1), 1)];
    join_all(faults.into_iter().map(async |(fault, times)| {
        World::run(async |w| {
            w.set_daemon_ahead(DAY);
            w.restart().await;
            w.model.always("Nine.");
            w.telegram.fault("sendMessage", fault.clone(), times);
            let tag = w.say("ann", "@bot how many?");
            put_off(w, tag).await;
            w.set_daemon_back(DAY);
            assert_eq!(w.answer_to(tag).await.text, "Nine.", "{fault:?}");
            let tag = w.say("ben", "@bot and after that?");
            assert_eq!(w.answer_to(tag).await.text, "Nine.", "{fault:?}");
        })
        .await;
    }))
    .await;
}

#[tokio::test]
async fn a_start_with_a_clock_behind_the_last_one_holds_up_no_reply() {
    World::run(async |w| {
        w.set_daemon_ahead(DAY);
        w.restart().await;
        w.model.script(["Nine."]);
        w.telegram.fault("sendMessage", Fault::Throttle(2), 1);
        let tag = w.say("ann", "@bot how many?");
        put_off(w, tag).await;
        w.stop().await;
        w.set_daemon_here();
        w.start().await;
        assert_eq!(w.answer_to(tag).await.text, "Nine.");
    })
    .await;
}

#[tokio::test]
async fn a_backlog_of_ten_thousand_with_a_thousand_old_tags_is_one_line() {
    const MANY: usize = 10_000;
    World::run(async |w| {
        w.stop().await;
        let ann = w.member("ann");
        let start = w.clock.now().minus(HOUR * 3);
        let post = |n: usize| {
            let text =
                if n.is_multiple_of(10) { format!("@bot question {n}?") } else { format!("message {n} of many") };
            Post::new(ann, text, start.plus(SECOND / 2 * u32::try_from(n).expect("a small number")))
        };
        w.telegram.say_many(w.chat, (0..MANY).map(post));
        let fresh = w.say("ben", "@bot which did they take?");
        w.model.script(["A lot."]);
        w.start().await;
        // A slow machine handles the backlog for so long that its notice is due before the answer.
        let first = w.next_sent().await;
        w.clock.advance(SECOND * 5);
        let second = w.next_sent().await;
        let (answer, line) = if first.reply_to.is_some() { (first, second.text) } else { (second, first.text) };
        assert_eq!((answer.reply_to, answer.text.as_str()), (Some(fresh), "A lot."));
        assert!(
            line.starts_with("While I was away, I was tagged in 1\u{202f}000 messages that I did not answer"),
            "{line}"
        );
        w.settled().await;
        // Apart from the two messages sent to them, every message is stored.
        assert_eq!(w.all_stored(w.chat).await.len(), MANY + 3);
    })
    .await;
}

// The disk.

#[tokio::test]
async fn a_database_locked_by_another_program_is_waited_for() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        let mut process = Process::start(w).await;
        let lock = Connection::open(w.database()).expect("open the database");
        lock.execute_batch("BEGIN EXCLUSIVE").expect("lock the database");
        let tag = w.say("ann", "@bot how many?");
        process.logged("updates cannot be stored; polling waits and confirms nothing").await;
        assert_eq!(w.telegram.pending_updates(), 1);
        drop(lock);
        assert_eq!(w.words_to(tag).await, "Nine.");
        w.settled().await;
    })
    .await;
}

/// The database is locked while the model works: neither the request nor the send is repeated.
#[tokio::test]
async fn an_answer_outlasts_a_locked_database() {
    World::without_daemon(async |w| {
        w.model.script([Reply::Held("Nine.".to_owned())]);
        w.telegram.fault("sendMessage", Fault::HangAfter, 1);
        let mut process = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.prompt(1).await;
        let lock = Connection::open(w.database()).expect("open the database");
        lock.execute_batch("BEGIN EXCLUSIVE").expect("lock the database");
        w.model.release();
        process.logged("the database cannot be written yet, trying again").await;
        lock.execute_batch("ROLLBACK").expect("unlock");
        assert_eq!(w.words_to(tag).await, "Nine.");
        lock.execute_batch("BEGIN EXCLUSIVE").expect("lock the database again");
        w.telegram.release();
        process.logged_times("the database cannot be written yet, trying again", 2).await;
        drop(lock);
        w.settled().await;
        assert_eq!((w.model.requests().len(), calls_of(w, "sendMessage").len()), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn a_start_on_a_locked_database_waits_and_can_be_stopped() {
    const WAITING: &str = "the database cannot be written yet, trying again";
    World::without_daemon(async |w| {
        Process::start(w).await.kill();
        let lock = Connection::open(w.database()).expect("open the database");
        lock.execute_batch("BEGIN EXCLUSIVE").expect("lock the database");
        let mut process = Process::begin(w);
        process.logged(WAITING).await;
        process.terminate();
        let (code, log) = process.ended(SECOND * 10).await;
        assert_eq!(code, 0, "{log}");

        let mut process = Process::begin(w);
        process.logged(WAITING).await;
        drop(lock);
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.words_to(tag).await, "Nine.");
        w.settled().await;
    })
    .await;
}

/// The file system accepts no more data. A limit on file sizes acts like a full disk and needs no privileges.
#[tokio::test]
async fn a_full_disk_pauses_polling_and_mends_itself() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        w.set("POLL_TIMEOUT", "1s");
        let line = "trap '' XFSZ; ulimit -S -f 3000; exec \"$0\" run";
        let mut process = Process::through_shell(w, line);
        process.logged("ready as @bot").await;
        let ann = w.member("ann");
        let many = (0..800).map(|n| Post::new(ann, format!("{n} {}", "many words ".repeat(300)), w.clock.now()));
        w.telegram.say_many(w.chat, many);
        process.logged_times("updates cannot be stored; polling waits and confirms nothing", 1).await;
        let pending = w.telegram.pending_updates();
        let polls = calls_of(w, "getUpdates").len();
        assert!(pending > 0, "all fits: {}", process.log());
        let tag = w.say("ben", "@bot how many?");
        process.logged_times("updates cannot be stored; polling waits and confirms nothing", 3).await;
        assert_eq!((w.telegram.pending_updates(), calls_of(w, "getUpdates").len()), (pending + 1, polls));

        let pid = process.pid().to_string();
        let lifted = Command::new("prlimit").args(["--pid", &pid, "--fsize=unlimited"]).status().expect("run prlimit");
        assert!(lifted.success(), "the limit stays");
        assert!(w.words_to(tag).await.starts_with("Nine."));
        w.settled().await;
        assert_eq!(w.all_stored(w.chat).await.len(), 802, "the 800, the question and its answer");
        let sound: String = Connection::open(w.database())
            .expect("open the database")
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("check it");
        assert_eq!(sound, "ok");
    })
    .await;
}
