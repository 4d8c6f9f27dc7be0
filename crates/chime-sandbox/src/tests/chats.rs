use expect_test::expect;
use serde_json::{Value, json};

use crate::tests::{Desk, NOON};
use crate::{ChatMemberStatus, NewChat, NewMember, Post, PostContent};
use chime_core::{ChatId, MessageId};

async fn messages(desk: &Desk) -> Vec<Value> {
    desk.poll(json!({})).await.into_iter().map(|mut update| update["message"].take()).collect()
}

/// Adds a forum with one topic and the bot: `(desk, chat, ann, topic)`.
macro_rules! forum {
    ($desk:ident, $chat:ident, $ann:ident, $topic:ident) => {
        let $desk = Desk::open().await;
        let $chat = $desk.sandbox.add_chat(NewChat::forum("Deploys"));
        let $ann = $desk.sandbox.add_member($chat, "ann");
        let $topic = $desk.sandbox.create_topic($chat, "Outage");
    };
}

#[tokio::test]
async fn ids_look_like_telegrams() {
    let desk = Desk::open().await;
    let supergroup = desk.sandbox.add_chat(NewChat::supergroup("a"));
    let group = desk.sandbox.add_chat(NewChat::group("b"));
    let private = desk.sandbox.add_chat(NewChat::private("ann"));
    let ann = desk.sandbox.add_member(supergroup, "ann");
    assert!(supergroup.0 < -1_000_000_000_000, "{supergroup}");
    assert!((-1_000_000..0).contains(&group.0), "{group}");
    assert_eq!(private.0, ann.0, "the same name is the same person everywhere");
}

#[tokio::test]
async fn a_reply_holds_its_parent_whole_but_not_the_grandparent() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["one"]);
    let ann = desk.sandbox.add_member(chat, "ann");
    let bob = desk.sandbox.add_member(chat, NewMember::named("bob").username("bobby"));
    let first = desk.sandbox.messages(chat)[0].id;
    let second = desk.sandbox.say(chat, Post::new(bob, "🎉 two @bot", NOON).reply_to(first));
    desk.sandbox.say(chat, Post::new(ann, "three", NOON).reply_to(second).quote("two"));
    let third = messages(&desk).await.remove(2);
    expect![[r#"
        {
          "chat": {
            "id": -1001000000001,
            "title": "Deploys",
            "type": "supergroup"
          },
          "date": 1750000000,
          "entities": [
            {
              "length": 4,
              "offset": 7,
              "type": "mention"
            }
          ],
          "from": {
            "first_name": "bob",
            "id": 102,
            "is_bot": false,
            "username": "bobby"
          },
          "message_id": 2,
          "message_thread_id": 1,
          "text": "🎉 two @bot"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&third["reply_to_message"]).unwrap());
    assert_eq!(third["quote"], json!({"text": "two", "position": 3, "is_manual": true}));
}

#[tokio::test]
async fn a_thread_of_replies_has_a_thread_id_but_is_no_topic() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["one"]);
    let ann = desk.sandbox.add_member(chat, "ann");
    let first = desk.sandbox.messages(chat)[0].id;
    let second = desk.sandbox.say(chat, Post::new(ann, "two", NOON).reply_to(first));
    desk.sandbox.say(chat, Post::new(ann, "three", NOON).reply_to(second));
    let third = messages(&desk).await.remove(2);
    assert_eq!((&third["message_thread_id"], &third["is_topic_message"]), (&json!(1), &Value::Null));

    let sent = desk.call("sendMessage", json!({"chat_id": chat, "text": "hi", "message_thread_id": 1})).await;
    assert_eq!(Desk::result(&sent)["message_thread_id"], Value::Null);
    assert_eq!(desk.sandbox.unexpected(), ["message_thread_id in a chat without topics"]);
}

#[tokio::test]
async fn a_plain_message_in_a_topic_replies_to_the_topics_creation() {
    forum!(desk, chat, ann, topic);
    desk.sandbox.say(chat, Post::new(ann, "down again", NOON).in_forum_topic(topic));
    desk.sandbox.say(chat, Post::new(ann, "in General", NOON));
    let seen = messages(&desk).await;
    let creation = json!({"name": "Outage", "icon_color": 7_322_096});
    assert_eq!(seen[0]["forum_topic_created"], creation);
    assert_eq!(seen[1]["reply_to_message"]["forum_topic_created"], creation);
    assert_eq!((&seen[1]["is_topic_message"], &seen[1]["message_thread_id"]), (&json!(true), &json!(topic)));
    assert_eq!((&seen[2]["is_topic_message"], &seen[2]["message_thread_id"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_reply_goes_to_the_topic_of_its_parent() {
    forum!(desk, chat, ann, topic);
    let question = desk.sandbox.say(chat, Post::new(ann, "@bot why?", NOON).in_forum_topic(topic));
    let reply = json!({"message_id": question});
    desk.call("sendMessage", json!({"chat_id": chat, "text": "because", "reply_parameters": reply})).await;
    desk.call("sendMessage", json!({"chat_id": chat, "text": "more", "message_thread_id": topic})).await;
    let sent = desk.sandbox.sent_by_bot(chat);
    assert_eq!(sent.iter().map(|message| message.forum_topic).collect::<Vec<_>>(), [Some(topic); 2]);
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn general_and_deleted_topics_are_not_found() {
    forum!(desk, chat, _ann, topic);
    let into = |forum_topic: i64| json!({"chat_id": chat, "text": "hi", "message_thread_id": forum_topic});
    let lost = "400 Bad Request: message thread not found";
    assert_eq!(desk.refusal("sendMessage", into(1000)).await, lost);
    assert_eq!(
        desk.refusal("sendChatAction", json!({"chat_id": chat, "action": "typing", "message_thread_id": 1000})).await,
        lost
    );
    desk.sandbox.delete_topic(chat, topic);
    assert_eq!(desk.refusal("sendMessage", into(topic.0)).await, lost);
}

#[tokio::test]
async fn a_closed_topic_is_closed_to_all_but_admins() {
    forum!(desk, chat, ann, topic);
    desk.sandbox.close_topic(chat, topic);
    let into = json!({"chat_id": chat, "text": "hi", "message_thread_id": topic});
    assert_eq!(desk.refusal("sendMessage", into.clone()).await, "400 Bad Request: TOPIC_CLOSED");
    desk.sandbox.add_bot_to(chat, ChatMemberStatus::Administrator, ann);
    Desk::result(&desk.call("sendMessage", into).await);
}

#[tokio::test]
async fn a_reply_never_leaves_its_topic() {
    forum!(desk, chat, ann, topic);
    let other = desk.sandbox.create_topic(chat, "Other");
    let there = desk.sandbox.say(chat, Post::new(ann, "hi", NOON).in_forum_topic(other));
    let reply = json!({"message_id": there, "allow_sending_without_reply": true});
    let params = json!({"chat_id": chat, "text": "hi", "message_thread_id": topic, "reply_parameters": reply});
    assert_eq!(desk.refusal("sendMessage", params).await, "400 Bad Request: message to be replied not found");
    assert_eq!(desk.sandbox.unexpected(), ["a reply to another topic"]);
}

#[tokio::test]
async fn a_migrated_group_says_where_it_went() {
    let desk = Desk::open().await;
    let old = desk.sandbox.add_chat(NewChat::group("Deploys"));
    let ann = desk.sandbox.add_member(old, "ann");
    desk.sandbox.say(old, Post::new(ann, "hi", NOON));
    let new = desk.sandbox.migrate(old);
    let answer = desk.call("sendMessage", json!({"chat_id": old, "text": "hi"})).await;
    assert_eq!(answer["description"], "Bad Request: group chat was upgraded to a supergroup chat");
    assert_eq!(answer["parameters"]["migrate_to_chat_id"], json!(new));
    assert_eq!(desk.send(new, "hi").await["message_id"], 2, "ids begin anew");
    let seen = messages(&desk).await;
    assert_eq!((&seen[1]["chat"]["id"], &seen[1]["migrate_to_chat_id"]), (&json!(old), &json!(new)));
    assert_eq!((&seen[2]["chat"]["id"], &seen[2]["migrate_from_chat_id"]), (&json!(new), &json!(old)));
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn where_nobody_is_in_charge_a_hidden_admin_acts_and_is_heard() {
    let desk = Desk::open().await;
    let chat = desk.sandbox.add_chat(NewChat::forum("Deploys"));
    desk.sandbox.create_topic(chat, "Outage");
    let seen = messages(&desk).await;
    assert_eq!(seen[0]["sender_chat"]["id"], json!(chat));
}

#[tokio::test]
async fn a_bot_that_was_kicked_is_told_and_kept_out() {
    let desk = Desk::open().await;
    let cases = [
        (NewChat::supergroup("a"), "403 Forbidden: bot was kicked from the supergroup chat"),
        (NewChat::group("b"), "403 Forbidden: bot was kicked from the group chat"),
        (NewChat::private("ann"), "403 Forbidden: bot was blocked by the user"),
    ];
    for (chat, expected) in cases {
        let chat = desk.sandbox.add_chat(chat);
        let ann = desk.sandbox.add_member(chat, "ann");
        desk.sandbox.kick_bot(chat);
        desk.sandbox.say(chat, Post::new(ann, "gone", NOON));
        assert_eq!(desk.refusal("sendMessage", json!({"chat_id": chat, "text": "hi"})).await, expected);
        let updates = desk.poll(json!({"offset": -1})).await;
        assert_eq!(updates[0]["my_chat_member"]["new_chat_member"]["status"], "kicked");
    }
}

#[tokio::test]
async fn a_bot_that_left_is_out() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    Desk::result(&desk.call("leaveChat", json!({"chat_id": chat})).await);
    let refusal = desk.refusal("sendMessage", json!({"chat_id": chat, "text": "hi"})).await;
    assert_eq!(refusal, "403 Forbidden: bot is not a member of the supergroup chat");
}

#[tokio::test]
async fn members_have_a_status() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let owner = desk.sandbox.add_member(chat, NewMember::named("bob").status(ChatMemberStatus::Creator));
    let stranger = desk.sandbox.add_member(desk.sandbox.add_chat(NewChat::group("x")), "eve");
    for (user, expected) in [(owner, "creator"), (stranger, "left"), (desk.sandbox.bot_id(), "member")] {
        let answer = desk.call("getChatMember", json!({"chat_id": chat, "user_id": user})).await;
        assert_eq!(Desk::result(&answer)["status"], expected);
    }
    let refusal = desk.refusal("getChatMember", json!({"chat_id": chat, "user_id": 5})).await;
    assert_eq!(refusal, "400 Bad Request: invalid user_id specified");
}

#[tokio::test]
async fn an_edit_is_told_and_a_deletion_is_not() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["helo", "oops"]);
    let ids: Vec<_> = desk.sandbox.messages(chat).iter().map(|message| message.id).collect();
    desk.sandbox.edit(chat, ids[0], "hello @bot", NOON);
    desk.sandbox.delete(chat, ids[1]);
    let updates = desk.poll(json!({"offset": -1})).await;
    let edited = &updates[0]["edited_message"];
    assert_eq!((&edited["text"], &edited["edit_date"]), (&json!("hello @bot"), &json!(NOON.secs())));
    assert_eq!(edited["entities"][0]["type"], "mention");
    assert_eq!(desk.sandbox.messages(chat).len(), 1);
}

#[tokio::test]
async fn captions_belong_to_what_they_describe() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let ann = desk.sandbox.add_member(chat, "ann");
    for caption in ["see @bot", ""] {
        desk.sandbox.say(chat, Post::new(ann, caption, NOON).with(PostContent::Photo).in_album("7"));
    }
    desk.sandbox.say(chat, Post::new(ann, "", NOON).with(PostContent::Voice { seconds: 12 }));
    let seen = messages(&desk).await;
    assert_eq!((&seen[0]["caption"], &seen[0]["text"]), (&json!("see @bot"), &Value::Null));
    assert_eq!(seen[0]["caption_entities"][0]["type"], "mention");
    assert_eq!((&seen[0]["media_group_id"], &seen[1]["media_group_id"]), (&json!("7"), &json!("7")));
    assert_eq!((&seen[1]["caption"], &seen[2]["voice"]["duration"]), (&Value::Null, &json!(12)));
}

#[tokio::test]
async fn who_writes_in_the_name_of_a_chat_hides_behind_telegrams_bots() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let channel = desk.sandbox.add_chat(NewChat::channel("News"));
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.sandbox.say(chat, Post::new(ann, "as the group", NOON).as_chat(chat));
    desk.sandbox.say(chat, Post::new(ann, "as a channel", NOON).as_chat(channel));
    desk.sandbox.say(channel, Post::new(ann, "in the channel", NOON));
    let updates = desk.poll(json!({})).await;
    let who = |message: &Value| format!("{} for {}", message["from"]["id"], message["sender_chat"]["title"]);
    assert_eq!(who(&updates[0]["message"]), "1087968824 for \"Deploys\"");
    assert_eq!(who(&updates[1]["message"]), "136817688 for \"News\"");
    assert_eq!(who(&updates[2]["channel_post"]), "null for \"News\"");
}

#[tokio::test]
async fn speaking_into_nowhere_is_noticed() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.sandbox.say(ChatId(-5), Post::new(ann, "hi", NOON));
    desk.sandbox.edit(chat, MessageId(5), "hi", NOON);
    assert_eq!(desk.sandbox.unexpected().len(), 2);
}
