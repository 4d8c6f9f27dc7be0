//! Whatever Telegram sends, nothing is lost, nothing stops, and the next question is answered.

use std::collections::BTreeMap;
use std::time::Duration;

use chime_core::UpdateId;
use chime_sandbox::faults::ReceivedCall;
use chime_testkit::updates::{BotApi, Dice, generate, mutilate};
use chime_world::World;
use rusqlite::{Connection, OpenFlags};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::privacy::found_in_files;

/// For thousands of updates, however slow the disk.
const PATIENCE: Duration = Duration::from_secs(60);
/// Longer than the wait before a notice about old triggers.
const BACKLOG_IS_DUE: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_bot_that_got_another_name_hears_it_within_the_hour() {
    World::run(async |w| {
        let is_heard = async |w: &mut World, name: &str| {
            w.model.script(["At noon."]);
            let asked = w.say("ann", &format!("@{name} when does the boat leave?"));
            w.answer_to(asked).await;
            let asked = w.say("ann", &format!("/help@{name}"));
            assert!(w.answer_to(asked).await.text.contains(&format!("@{name}")));
        };
        is_heard(w, "bot").await;
        w.telegram.rename_bot("boatbot");
        let asked = w.telegram.calls().iter().filter(|call| call.is("getMe")).count();
        w.clock.advance(Duration::from_secs(60 * 60));
        w.telegram.called("getMe", asked + 1).await;
        w.settled().await;
        is_heard(w, "boatbot").await;
    })
    .await;
}

#[tokio::test]
async fn ten_thousand_updates_of_all_kinds_are_taken_in() {
    const MANY: usize = 10_000;
    const REPEATED: usize = 50;
    World::run(async |w| {
        w.telegram.restart_update_ids(UpdateId(1));
        push_all(w, generate(BotApi::bundled(), 1, MANY)).await;
        assert_eq!(w.inbox().await, (MANY as u64, 0), "every update is stored, and none is parked");

        for id in (1..=MANY).rev().step_by(MANY / REPEATED / 2).take(REPEATED) {
            let id = UpdateId(i64::try_from(id).expect("a small number"));
            assert!(w.telegram.redeliver(id), "update {id} is still known");
        }
        w.telegram.all_confirmed().await;
        still_answers(w).await;
        assert_eq!(w.inbox().await, (MANY as u64 + 1, 0), "what came twice is there once");
    })
    .await;
}

#[tokio::test]
async fn two_thousand_maimed_updates_are_taken_in_or_parked() {
    const MANY: usize = 2_000;
    World::run(async |w| {
        let mut dice = Dice::new(4);
        let whole = generate(BotApi::bundled(), 4, MANY);
        let maimed: Vec<String> = whole.iter().map(|json| maim(json, &mut dice)).collect();
        w.telegram.restart_update_ids(UpdateId(1));
        push_all(w, maimed).await;
        still_answers(w).await;

        let (total, parked) = w.inbox().await;
        let states = parked_by_reason(w);
        assert_eq!(total, MANY as u64 + 1, "{states:?}");
        assert!((200..1_900).contains(&parked), "{parked} of {total} parked: maiming does too little or too much");
        for (reason, count) in &states {
            let is_known = reason.starts_with("unknown kind of update") || reason.starts_with("malformed `");
            assert!(is_known, "{count} updates were parked for another reason than their own: {reason}");
        }
    })
    .await;
}

/// Bytes cut out or overwritten. Only results that are one JSON value are used, since no server sends others.
#[tokio::test]
async fn mutilated_updates_are_taken_in_or_parked() {
    const MANY: usize = 200;
    World::run(async |w| {
        let mut dice = Dice::new(5);
        let whole = generate(BotApi::bundled(), 5, MANY * 20);
        let mutilated = whole.iter().map(|json| mutilate(json, &mut dice));
        let values: Vec<String> =
            mutilated.filter(|json| serde_json::from_str::<&RawValue>(json).is_ok()).take(MANY).collect();
        assert_eq!(values.len(), MANY, "enough of them are still JSON");
        w.telegram.restart_update_ids(UpdateId(1));
        push_all(w, values).await;
        still_answers(w).await;
        let reasons = parked_by_reason(w);
        let known = |reason: &String| reason.starts_with("unknown kind of update") || reason.starts_with("malformed `");
        assert!(reasons.keys().all(known), "{reasons:?}");
    })
    .await;
}

#[tokio::test]
async fn updates_without_an_id_neither_spin_nor_block() {
    World::run(async |w| {
        w.settled().await;
        let before = polls(w).len();
        for nothing in ["null", "7", r#""update""#, "[]", r#"{"update_id":"5","message":{}}"#, r#"{"update_id":-3}"#] {
            w.telegram.push_raw(nothing);
        }
        // Nothing here has an id to confirm it by, so it arrives with every poll.
        w.telegram.called("getUpdates", before + 5).await;
        let since: Vec<ReceivedCall> = polls(w).split_off(before);
        let span = since[4].at.since(since[0].at);
        assert!(span >= Duration::from_millis(700), "five polls in {span:?} are a spin");
        assert_eq!(w.inbox().await, (6, 6), "each is parked once, however often it comes");
        still_answers(w).await;
        assert_eq!(w.telegram.pending_updates(), 0, "the next id confirms them");
    })
    .await;
}

#[tokio::test]
async fn the_same_message_under_another_update_id_is_not_answered_again() {
    World::run(async |w| {
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        w.answer_to(tag).await;
        let update = w.telegram.latest_update().expect("an update");
        w.telegram.duplicate(update).expect("a second copy");
        assert!(w.telegram.redeliver(update));
        w.settled().await;
        w.restart().await;
        assert!(w.telegram.redeliver(update));
        w.settled().await;
        assert_eq!(w.inbox().await, (2, 0));
    })
    .await;
}

#[tokio::test]
async fn update_ids_that_start_anew_lose_nothing() {
    World::run(async |w| {
        w.model.script(["One.", "Two."]);
        let first = w.say("ann", "@bot one?");
        w.answer_to(first).await;
        w.settled().await;
        w.telegram.restart_update_ids(UpdateId(77));
        let second = w.say("ann", "@bot two?");
        assert_eq!(w.answer_to(second).await.text, "Two.");
    })
    .await;
}

/// Text that has broken bots: half a surrogate pair, NUL, thousands of emoji, stacked marks, right-to-left overrides.
#[tokio::test]
async fn odd_text_is_stored_and_answered() {
    let texts = [
        // After an answer of the bot, emoji would be thanks.
        format!("@bot {}", "😀".repeat(2045)),
        "@bot \\ud800 and \\udc00 alone".to_owned(),
        "@bot a\\u0000b".to_owned(),
        format!("@bot {}", "Z\u{341}\u{34d}\u{363}\u{36b}".repeat(800)),
        "@bot \u{202e}\u{2066}gnirts desrever\u{2069} \u{feff}\u{200d}".to_owned(),
        format!("@bot {}", "@ann #tag /cmd https://example.org ".repeat(25)),
    ];
    World::run(async |w| {
        let user = w.member("ann");
        for (number, text) in (1_i64..).zip(&texts) {
            w.model.script([text.as_str()]);
            let update = format!(
                r#"{{"message":{{"message_id":{id},"date":{date},"chat":{{"id":{chat},"type":"supergroup","title":"\ud83d"}},
                "from":{{"id":{user},"is_bot":false,"first_name":"A\u0000n\udc00n"}},
                "text":"{text}","entities":[{{"type":"mention","offset":0,"length":4}}]}}}}"#,
                id = 500 + number,
                date = w.clock.now().secs(),
                chat = w.chat,
            );
            w.telegram.push_raw(update);
            let answer = w.next_sent().await;
            assert!(!answer.text.is_empty(), "{text:?} has no answer");
            let prompt = w.prompt(usize::try_from(number).expect("a small number")).await;
            // Emoji alone are no question.
            let heading = if text.contains('😀') { "calls you without a question" } else { "asks you" };
            assert!(prompt.contains(heading), "{text:?}");
        }
        w.settled().await;
        assert_eq!(w.inbox().await, (texts.len() as u64, 0));
        let kept = w.all_stored(w.chat).await;
        assert!(kept.iter().any(|stored| stored.message.text == format!("@bot {}", "😀".repeat(2045))));
    })
    .await;
}

async fn push_all(w: &World, updates: Vec<String>) {
    for update in updates {
        w.telegram.push_raw(update);
    }
    let confirmed = tokio::time::timeout(PATIENCE, w.telegram.all_confirmed()).await;
    confirmed.unwrap_or_else(|_| panic!("{} updates stay unconfirmed", w.telegram.pending_updates()));
    // Old triggers among them are reported in chats that do not exist, at any time.
    w.clock.advance(BACKLOG_IS_DUE);
}

async fn still_answers(w: &mut World) {
    let asked = w.model.requests().len();
    w.model.script(["Still here."]);
    let tag = w.say("ann", "@bot are you still there?");
    let answer = w.answer_to(tag).await;
    assert_eq!(answer.text, "Still here.");
    assert_eq!(w.model.requests().len(), asked + 1);
    w.settled().await;
}

fn polls(w: &World) -> Vec<ReceivedCall> {
    w.telegram.calls().into_iter().filter(|call| call.is("getUpdates")).collect()
}

/// Returns the number of parked updates by reason.
fn parked_by_reason(w: &World) -> BTreeMap<String, u32> {
    let conn = Connection::open_with_flags(w.database(), OpenFlags::SQLITE_OPEN_READ_ONLY).expect("open the database");
    let mut statement =
        conn.prepare("SELECT error, count(*) FROM inbox WHERE state = 'parked' GROUP BY error").expect("prepare");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("query");
    rows.collect::<Result<_, _>>().expect("rows")
}

/// Removes one to four parts of the update, replaces them by another type, or renames its kind. The id stays.
fn maim(json: &str, dice: &mut Dice) -> String {
    let mut update: Map<String, Value> =
        serde_json::from_str(&json.replace("\\ud83d", "?")).expect("a generated update");
    let id = update.remove("update_id").unwrap_or_default();
    let (kind, mut content) = update.into_iter().next().expect("a kind");
    for _ in 0..=dice.roll(4) {
        maim_a_part(&mut content, dice);
    }
    let kind = if dice.roll(20) == 0 { "kind_of_the_future".to_owned() } else { kind };
    json!({"update_id": id, kind: content}).to_string()
}

/// Walks down at random and damages the value at the end.
fn maim_a_part(value: &mut Value, dice: &mut Dice) {
    let stops = dice.roll(4) == 0;
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(dice.roll(fields.len())).cloned().unwrap_or_default();
            if stops {
                fields.insert(name, rubbish(dice));
            } else if dice.roll(6) == 0 {
                fields.remove(&name);
            } else if let Some(inner) = fields.get_mut(&name) {
                maim_a_part(inner, dice);
            }
        }
        Value::Array(items) if !items.is_empty() && !stops => {
            let index = dice.roll(items.len());
            maim_a_part(&mut items[index], dice);
        }
        other => *other = rubbish(dice),
    }
}

fn rubbish(dice: &mut Dice) -> Value {
    match dice.roll(7) {
        0 => Value::Null,
        1 => json!(-1),
        2 => json!(i64::MAX),
        3 => json!(0.5),
        4 => json!("😀".repeat(9)),
        5 => json!([{"deep": [[[]]]}]),
        _ => json!({"id": {}}),
    }
}

/// Each topic of such a chat is a private conversation with the channel: none of it may meet another in a prompt.
#[tokio::test]
async fn the_direct_messages_of_a_channel_are_left_alone() {
    World::run(async |w| {
        let chat =
            json!({"id": -1_009_000_000_001_i64, "type": "supergroup", "title": "News", "is_direct_messages": true});
        let user = json!({"id": 77, "is_bot": false, "first_name": "Zoe"});
        let bot = json!({"id": w.telegram.bot_id(), "is_bot": true, "first_name": "Bot", "username": "bot"});
        let now = w.clock.now().millis() / 1000;
        let joined = json!({"update_id": 0, "my_chat_member": {
            "chat": chat, "from": user, "date": now,
            "old_chat_member": {"status": "left", "user": bot}, "new_chat_member": {"status": "member", "user": bot},
        }});
        let said = json!({"update_id": 0, "message": {
            "message_id": 5, "date": now, "chat": chat, "from": user, "text": "@bot my zqsecret7xk?",
            "entities": [{"type": "mention", "offset": 0, "length": 4}],
            "direct_messages_topic": {"topic_id": 77, "user": user},
        }});
        for update in [joined, said] {
            w.telegram.push_raw(update.to_string());
        }
        w.telegram.all_confirmed().await;
        still_answers(w).await;
        assert_eq!(w.model.requests().len(), 1);
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqsecret7xk".to_owned()]), Vec::<String>::new());
        w.start().await;
    })
    .await;
}
