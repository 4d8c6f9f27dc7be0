//! Questions in chats that the bot is not in, and messages of other bots.

use std::time::Duration;

use chime_core::texts::texts;
use chime_sandbox::{BotAction, Cursor, NewChat};
use chime_world::World;
use serde_json::{Value, json};

use crate::privacy::found_in_files;

const HOUR: Duration = Duration::from_secs(3600);
/// A group that the bot is not in.
const ELSEWHERE: i64 = -1_007;

/// Asks in a chat without the bot, in reply to a message of this user.
fn ask_about(w: &World, number: u32, author: i64) {
    ask_replying(w, number, ELSEWHERE, 7001, "@bot when does it leave, and do we have time for breakfast?", author);
}

/// Asks in a chat without the bot, in reply to a message.
fn ask(w: &World, number: u32, chat: i64, user: i64, text: &str) {
    ask_replying(w, number, chat, user, text, 7002);
}

fn ask_replying(w: &World, number: u32, chat: i64, user: i64, text: &str, author: i64) {
    let from = |id: i64, name: &str| json!({"id": id, "is_bot": id > 9000, "first_name": name});
    let place = json!({"id": chat, "type": "supergroup", "title": "zqelsewhere7xk"});
    let message = |id: u32, from: Value, text: &str| json!({"message_id": id, "date": w.clock.now().secs(), "chat": place, "from": from, "text": text});
    let mut asked = message(number + 1, from(user, "zqann7xk"), text);
    asked["guest_query_id"] = json!(format!("guest-{number}"));
    asked["reply_to_message"] = message(number, from(author, "bob"), "zqferry7xk leaves at 7:15");
    w.telegram.push_raw(json!({ "guest_message": asked }).to_string());
}

/// Returns the next text that is shown in the other chat.
async fn shown(w: &World, from: &mut Cursor) -> String {
    loop {
        let (action, next) = w.telegram.next_from_bot(*from).await;
        *from = next;
        if let BotAction::GuestAnswered { text, .. } = action {
            return text;
        }
    }
}

fn answers(w: &World) -> usize {
    w.telegram.calls().iter().filter(|call| call.is("answerGuestQuery")).count()
}

#[tokio::test]
async fn words_of_somebody_who_opted_out_everywhere_are_no_part_of_a_guest_question() {
    World::run(async |w| {
        let private = w.telegram.add_chat(NewChat::private("bob"));
        let out = w.say_in(private, "bob", "/optout");
        w.answer_to(out).await;
        w.model.script(["I do not know."]);
        ask_about(w, 10, w.member("bob").0);
        let mut cursor = Cursor::default();
        shown(w, &mut cursor).await;
        shown(w, &mut cursor).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("when does it leave") && !prompt.contains("zqferry7xk"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_guest_answers_once_from_what_it_sees_invites_and_keeps_nothing() {
    World::run(async |w| {
        let mut cursor = Cursor::default();
        for (number, (code, question)) in (1..).zip([
            ("eng", "@bot when does it leave, and is there still time to have breakfast before that?"),
            ("deu", "@bot wann fährt sie ab, und haben wir davor noch genug Zeit für ein Frühstück?"),
            ("spa", "@bot ¿a qué hora sale el barco, y todavía tenemos tiempo para desayunar antes?"),
        ]) {
            w.model.script(["At **7:15**."]);
            ask(w, number * 10, ELSEWHERE, 7001, question);
            assert_eq!(shown(w, &mut cursor).await, texts(code).one_moment);
            let answer = shown(w, &mut cursor).await;
            assert_eq!(answer, format!("At 7:15.\n\n{}", texts(code).guests.invitation));
            let prompt = w.prompt(w.model.requests().len()).await;
            assert!(prompt.contains("zqferry7xk leaves") && prompt.contains(question), "{prompt}");
        }
        // A chat of the bot may have the same id: what a guest hears does not get there.
        w.model.script(["It leaves."]);
        ask(w, 90, w.chat.0, 7001, "@bot when does the zqferry7xk leave?");
        shown(w, &mut cursor).await;
        shown(w, &mut cursor).await;
        w.settled().await;
        assert!(w.all_stored(w.chat).await.is_empty());
        for marker in ["zqferry7xk", "zqann7xk", "zqelsewhere7xk"] {
            assert_eq!(found_in_files(w, &[marker.to_owned()]), Vec::<String>::new());
        }
    })
    .await;
}

#[tokio::test]
async fn guests_have_limits_of_their_own_by_chat_and_by_user() {
    World::offline(async |w| {
        let mut cursor = Cursor::default();
        for number in 0..7 {
            w.clock.advance(Duration::from_secs(60));
            ask(w, number * 10, ELSEWHERE, 7010 + i64::from(number), "@bot when does it leave?");
            if number < 5 {
                assert_eq!(shown(w, &mut cursor).await, texts("eng").guests.invitation);
            }
        }
        // Another chat is not affected; one user is limited across chats.
        for number in 10..17 {
            w.clock.advance(Duration::from_secs(60));
            ask(w, number * 10, ELSEWHERE - 10 - i64::from(number), 7001, "@bot when does it leave?");
            if number < 15 {
                shown(w, &mut cursor).await;
            }
        }
        w.settled().await;
        assert_eq!(answers(w), 10);
        w.clock.advance(HOUR);
        ask(w, 300, ELSEWHERE, 7001, "@bot when does it leave?");
        shown(w, &mut cursor).await;
        assert_eq!(answers(w), 11);
    })
    .await;
}

#[tokio::test]
async fn a_closed_bot_is_no_guest() {
    World::with(&[("PRIVATE_CHATS", "members")], async |w| {
        ask(w, 10, ELSEWHERE, 7001, "@bot when does it leave?");
        w.quiet(HOUR).await;
        assert_eq!(answers(w), 0);
        // A member of one of its groups may take it along.
        w.say("ann", "hello");
        w.settled().await;
        w.model.script(["At 7:15."]);
        ask(w, 20, ELSEWHERE, w.member("ann").0, "@bot when does it leave?");
        let mut cursor = Cursor::default();
        shown(w, &mut cursor).await;
        shown(w, &mut cursor).await;
    })
    .await;
}

#[tokio::test]
async fn a_model_that_fails_leaves_no_promise_behind() {
    World::run(async |w| {
        let refused = r#"{"error":{"message":"no","code":"invalid_api_key"}}"#;
        w.model.script([chime_testkit::Reply::Status(401, refused.to_owned())]);
        ask(w, 10, ELSEWHERE, 7001, "@bot when does it leave?");
        let mut cursor = Cursor::default();
        shown(w, &mut cursor).await;
        let actual = shown(w, &mut cursor).await;
        assert!(
            actual.ends_with(&texts("eng").guests.invitation) && actual.starts_with(&texts("eng").notices.sorry),
            "{actual}"
        );
    })
    .await;
}

#[tokio::test]
async fn other_bots_are_never_answered() {
    World::run(async |w| {
        ask(w, 10, ELSEWHERE, 9001, "@bot when does it leave?");
        for number in 1..4 {
            let from = json!({"id": 9001, "is_bot": true, "first_name": "Echo", "username": "echo_bot"});
            let message = json!({"message_id": 500 + number, "date": w.clock.now().secs(), "from": from,
                "chat": {"id": w.chat, "type": "supergroup", "title": "Friday table"}, "text": "@bot and you?",
                "entities": [{"type": "mention", "offset": 0, "length": 4}]});
            w.telegram.push_raw(json!({ "message": message }).to_string());
        }
        w.quiet(HOUR).await;
        assert_eq!((answers(w), w.model.requests().len()), (0, 0));
        assert!(w.telegram.sent_by_bot(w.chat).is_empty());
    })
    .await;
}
