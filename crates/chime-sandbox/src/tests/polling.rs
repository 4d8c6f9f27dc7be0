use expect_test::{Expect, expect};
use serde_json::json;

use crate::tests::{Desk, NOON};
use crate::{ChatMemberStatus, NewChat, NewMember, Post, Setup};
use chime_core::UpdateId;

/// Polls successively with these offsets while six messages are pending.
async fn polls_of_six(offsets: &[i64], expected: Expect) {
    let desk = Desk::open().await;
    desk.group_saying(&["1", "2", "3", "4", "5", "6"]);
    let first = desk.sandbox.confirmed_offset();
    let mut seen = Vec::new();
    for &offset in offsets {
        let offset = if offset > 0 { first + offset - 1 } else { offset };
        seen.push(desk.texts(json!({"offset": offset, "limit": 3})).await.join(" "));
    }
    let left = desk.sandbox.pending_updates();
    expected.assert_eq(&format!("{}; {left} left", seen.join(" | ")));
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn without_an_offset_the_same_updates_come_again() {
    polls_of_six(&[0, 0], expect!["1 2 3 | 1 2 3; 6 left"]).await;
}

#[tokio::test]
async fn an_offset_confirms_what_is_below_it() {
    polls_of_six(&[0, 4, 4, 7], expect!["1 2 3 | 4 5 6 | 4 5 6 | ; 0 left"]).await;
}

#[tokio::test]
async fn a_negative_offset_keeps_only_the_last_updates() {
    polls_of_six(&[-2, 0], expect!["5 6 | 5 6; 2 left"]).await;
    polls_of_six(&[-100], expect!["1 2 3; 6 left"]).await;
}

#[tokio::test]
async fn an_offset_far_above_the_tail_brings_everything_again() {
    polls_of_six(&[18], expect!["1 2 3; 6 left"]).await;
    polls_of_six(&[17], expect!["; 0 left"]).await;
}

#[tokio::test]
async fn an_offset_from_long_ago_brings_everything_again() {
    let desk = Desk::open().await;
    desk.group_saying(&["1", "2"]);
    assert_eq!(desk.texts(json!({"offset": 7})).await, ["1", "2"]);
    assert_eq!(desk.texts(json!({"offset": desk.sandbox.confirmed_offset() - 9})).await, ["1", "2"]);
}

#[tokio::test]
async fn a_limit_is_held_between_one_and_a_hundred() {
    let desk = Desk::open().await;
    let numbers: Vec<String> = (0..150).map(|n| n.to_string()).collect();
    desk.group_saying(&numbers.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(desk.poll(json!({})).await.len(), 100);
    assert_eq!(desk.poll(json!({"limit": 1000})).await.len(), 100);
    assert_eq!(desk.poll(json!({"limit": 0})).await.len(), 1);
}

#[tokio::test]
async fn a_waiting_poll_wakes_when_somebody_speaks() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let ann = desk.sandbox.add_member(chat, "ann");
    let speak = async {
        desk.sandbox.called("getUpdates", 1).await;
        desk.sandbox.say(chat, Post::new(ann, "morning", NOON));
    };
    let (texts, ()) = tokio::join!(desk.texts(json!({"timeout": 50})), speak);
    assert_eq!(texts, ["morning"]);
}

#[tokio::test]
async fn a_poll_without_news_ends_with_its_timeout() {
    let desk = Desk::open().await;
    let wait = async {
        desk.sandbox.called("getUpdates", 1).await;
        desk.clock.advance(std::time::Duration::from_secs(50));
    };
    let (texts, ()) = tokio::join!(desk.texts(json!({"timeout": 600})), wait);
    assert!(texts.is_empty());
}

#[tokio::test]
async fn a_second_poll_ends_the_first() {
    let desk = Desk::open().await;
    let second = async {
        desk.sandbox.called("getUpdates", 1).await;
        desk.texts(json!({})).await
    };
    let (first, second) = tokio::join!(desk.refusal("getUpdates", json!({"timeout": 50})), second);
    expect!["409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"]
        .assert_eq(&first);
    assert!(second.is_empty());
}

#[tokio::test]
async fn kinds_are_chosen_when_an_update_is_made_and_remembered() {
    let desk = Desk::open().await;
    let chat = desk.sandbox.add_chat(NewChat::supergroup("Deploys").with_bot(ChatMemberStatus::Administrator));
    let ann = desk.sandbox.add_member(chat, "ann");
    let message = desk.sandbox.say(chat, Post::new(ann, "hi", NOON));
    desk.sandbox.react(chat, message, ann, &["👍"]);
    assert_eq!(desk.sandbox.pending_updates(), 1, "a reaction that nobody asked for");

    desk.poll(json!({"allowed_updates": ["message_reaction"]})).await;
    desk.poll(json!({})).await;
    desk.sandbox.react(chat, message, ann, &["🔥"]);
    desk.sandbox.say(chat, Post::new(ann, "not asked for", NOON));
    let updates = desk.poll(json!({"offset": -1})).await;
    expect![[r#"
        {"message_id":1,"new":[{"emoji":"🔥","type":"emoji"}],"old":[{"emoji":"👍","type":"emoji"}]}"#]]
    .assert_eq(
        &json!({
            "message_id": updates[0]["message_reaction"]["message_id"],
            "old": updates[0]["message_reaction"]["old_reaction"],
            "new": updates[0]["message_reaction"]["new_reaction"],
        })
        .to_string(),
    );
}

#[tokio::test]
async fn raw_updates_get_an_id_where_they_lack_one() {
    let desk = Desk::open().await;
    let next = desk.sandbox.confirmed_offset();
    desk.sandbox.push_raw("{}");
    desk.sandbox.push_raw(r#"{"poll": null, "text": "\ud800"}"#);
    desk.sandbox.push_raw(format!(r#"{{"update_id": {}, "message": []}}"#, next + 7));
    let body = desk.client.get(desk.url("getUpdates")).send().await.unwrap().text().await.unwrap();
    assert_eq!(
        body,
        format!(
            r#"{{"ok":true,"result":[{{"update_id":{next}}},{{"update_id":{},"poll": null, "text": "\ud800"}},{{"update_id": {}, "message": []}}]}}"#,
            next + 1,
            next + 7
        )
    );
    assert!(desk.poll(json!({"offset": next + 8})).await.is_empty());
    assert_eq!(desk.sandbox.confirmed_offset(), next + 8);
}

#[tokio::test]
async fn an_update_comes_again_under_its_own_id_once() {
    let desk = Desk::open().await;
    desk.group_saying(&["hi"]);
    let update = desk.sandbox.latest_update().unwrap();
    desk.poll(json!({"offset": update.0 + 1})).await;
    assert!(desk.sandbox.redeliver(update));
    assert_eq!(desk.texts(json!({"offset": update.0 + 1})).await, ["hi"]);
    assert!(desk.texts(json!({"offset": update.0 + 1})).await.is_empty());
    assert!(!desk.sandbox.redeliver(UpdateId(7)));
}

#[tokio::test]
async fn an_update_comes_again_under_a_new_id_until_confirmed() {
    let desk = Desk::open().await;
    desk.group_saying(&["hi"]);
    let update = desk.sandbox.latest_update().unwrap();
    assert_eq!(desk.sandbox.duplicate(update), Some(UpdateId(update.0 + 1)));
    assert_eq!(desk.texts(json!({"offset": update.0})).await, ["hi", "hi"]);
    assert_eq!(desk.texts(json!({"offset": update.0 + 1})).await, ["hi"]);
}

#[tokio::test]
async fn after_a_quiet_week_ids_begin_anywhere() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hi"]);
    desk.poll(json!({"offset": -1})).await;
    desk.sandbox.restart_update_ids(UpdateId(42));
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.sandbox.say(chat, Post::new(ann, "still here?", NOON));
    let updates = desk.poll(json!({"offset": 500_000_002})).await;
    assert_eq!((updates.len(), updates[0]["update_id"].as_i64()), (1, Some(42)));
}

#[tokio::test]
async fn in_privacy_mode_a_plain_mention_is_not_delivered() {
    let desk = Desk::with(Setup { reads_all: false, ..Setup::default() }).await;
    let chat = desk.group_saying(&["hello", "@bot help", "/why@bot", "/why@other_bot", "/why"]);
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.send(chat, "hi").await;
    let own = desk.sandbox.sent_by_bot(chat)[0].id;
    desk.sandbox.say(chat, Post::new(ann, "thanks", NOON).reply_to(own));
    assert_eq!(desk.texts(json!({})).await, ["/why@bot", "/why", "thanks"]);
}

#[tokio::test]
async fn the_bot_hears_neither_itself_nor_other_bots_nor_what_was_before_it() {
    let desk = Desk::open().await;
    let chat = desk.sandbox.add_chat(NewChat::supergroup("Deploys").with_bot(ChatMemberStatus::Left));
    let ann = desk.sandbox.add_member(chat, "ann");
    let robot = desk.sandbox.add_member(chat, NewMember::named("robot").bot());
    desk.sandbox.say(chat, Post::new(ann, "before the bot", NOON));
    desk.sandbox.add_bot_to(chat, ChatMemberStatus::Member, ann);
    desk.sandbox.say(chat, Post::new(robot, "beep", NOON));
    desk.sandbox.say(chat, Post::new(ann, "from the archive", NOON).silently());
    desk.send(chat, "hello").await;
    desk.sandbox.say(chat, Post::new(ann, "hello bot", NOON));
    let updates = desk.poll(json!({})).await;
    let shown = updates.iter().map(|update| match &update["my_chat_member"]["new_chat_member"]["status"] {
        serde_json::Value::String(status) => status.clone(),
        _ if update["message"]["new_chat_members"].is_array() => "joined".to_owned(),
        _ => update["message"]["text"].to_string(),
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["member", "joined", "\"hello bot\""]);
}

#[tokio::test]
async fn a_large_backlog_comes_in_order_and_whole() {
    const BACKLOG: usize = 1_000;
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.sandbox.say_many(chat, (0..BACKLOG).map(|n| Post::new(ann, format!("line {n}"), NOON)));
    let mut offset = desk.sandbox.confirmed_offset();
    let mut lines = Vec::new();
    while desk.sandbox.pending_updates() > 0 {
        let batch = desk.texts(json!({"offset": offset, "limit": 100})).await;
        offset += i64::try_from(batch.len()).unwrap();
        lines.extend(batch);
    }
    assert_eq!(lines, (0..BACKLOG).map(|n| format!("line {n}")).collect::<Vec<_>>());
}
