use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;
use chime_core::{Arrival, Entity, Kind, Message};
use chime_testkit::updates::{BotApi, Dice, generate, mutilate};

const BOT: UserId = UserId(99);

/// A message of Ana in the supergroup Band, with `fields` added or, if null, removed.
fn message(fields: Value) -> Value {
    let mut message = json!({
        "message_id": 42, "date": 1_790_000_000, "chat": {"id": -1001, "type": "supergroup", "title": "Band"},
        "from": {"id": 5, "is_bot": false, "first_name": "Ana", "username": "ana"},
    });
    if let (Some(message), Value::Object(fields)) = (message.as_object_mut(), fields) {
        message.extend(fields);
        message.retain(|_, value| !value.is_null());
    }
    message
}

fn update(kind: &str, content: Value) -> RawUpdate {
    RawUpdate::parse(&json!({"update_id": 1, kind: content}).to_string())
}

/// Formats events one per line, each followed by its enclosed parent.
fn show(update: &RawUpdate) -> String {
    match extract(update, BOT) {
        Ok(events) if events.is_empty() => "nothing".to_owned(),
        Ok(events) => events.iter().map(show_event).collect::<Vec<_>>().join("\n"),
        Err(error) => error.to_string(),
    }
}

fn show_event(event: &Event) -> String {
    match event {
        Event::Message(arrival) => show_arrival("message", arrival),
        Event::Edit(arrival) => show_arrival("edit", arrival),
        other => format!("{other:?}"),
    }
}

fn show_arrival(what: &str, arrival: &Arrival) -> String {
    let parent = arrival.parent.as_ref().map(|parent| format!("\n  parent {}", show_message(parent)));
    format!("{what} {}{}", show_message(&arrival.message), parent.unwrap_or_default())
}

fn show_message(m: &Message) -> String {
    let sender = &m.sender;
    let mut parts = vec![format!("#{} {}({})", m.id, sender.name, sender.id), m.role.as_str().to_owned()];
    let mut note = |name: &str, value: Option<String>| parts.extend(value.map(|value| format!("{name}={value}")));
    note("is", (sender.is_bot || sender.is_chat).then(|| if sender.is_bot { "bot" } else { "chat" }.to_owned()));
    note("topic", m.forum_topic.map(|id| id.to_string()));
    note("reply", m.reply_to.map(|id| id.to_string()));
    note("quote", m.quote.clone());
    note("snapshot", m.snapshot.clone());
    note("from", m.forward_origin.clone());
    note("album", m.album.clone());
    note("via", m.via_bot.clone());
    note("edited", m.edited_at.map(|at| at.secs().to_string()));
    note("origin", (m.origin != chime_core::Origin::Update).then(|| m.origin.as_str().to_owned()));
    let entities: Vec<String> = m.entities.iter().map(show_entity).collect();
    note("entities", (!entities.is_empty()).then(|| entities.join(",")));
    format!("{} | {}", parts.join(" "), m.rendered())
}

fn show_entity(entity: &Entity) -> String {
    format!("{}+{} {:?}", entity.offset, entity.length, entity.kind)
}

#[track_caller]
fn check(kind: &str, content: Value, expected: Expect) {
    expected.assert_eq(&show(&update(kind, content)));
}

#[track_caller]
fn check_message(fields: Value, expected: Expect) {
    check("message", message(fields), expected);
}

#[test]
fn a_plain_message() {
    check_message(json!({"text": "hello"}), expect!["message #42 Ana(5) user | hello"]);
}

#[test]
fn an_edit_and_a_post_of_a_channel() {
    check(
        "edited_message",
        message(json!({"text": "hello!", "edit_date": 1_790_000_060})),
        expect!["edit #42 Ana(5) user edited=1790000060 | hello!"],
    );
    let post = json!({"from": null, "chat": {"id": -1007, "type": "channel", "title": "News"}, "text": "new"});
    check("channel_post", message(post.clone()), expect!["message #42 News(-1007) user is=chat | new"]);
    check("edited_channel_post", message(post), expect!["edit #42 News(-1007) user is=chat | new"]);
}

#[test]
fn whoever_writes_in_the_name_of_a_chat_is_that_chat_and_no_bot() {
    check_message(
        json!({
            "from": {"id": 1_087_968_824, "is_bot": true, "first_name": "Group", "username": "GroupAnonymousBot"},
            "sender_chat": {"id": -1001, "type": "supergroup", "title": "Band"}, "text": "rules"
        }),
        expect!["message #42 Band(-1001) user is=chat | rules"],
    );
}

#[test]
fn a_bot_is_a_bot_and_ours_is_the_assistant() {
    let by = |id: i64| json!({"from": {"id": id, "is_bot": true, "first_name": "Bot"}, "text": "beep"});
    check_message(by(8), expect!["message #42 Bot(8) user is=bot | beep"]);
    check_message(by(99), expect!["message #42 Bot(99) assistant is=bot | beep"]);
}

#[test]
fn what_a_linked_channel_posts_is_no_forward() {
    let forward = |automatic: bool| {
        json!({
            "from": {"id": 777_000, "first_name": "Telegram"}, "is_automatic_forward": automatic,
            "sender_chat": {"id": -1007, "type": "channel", "title": "News"}, "text": "new",
            "forward_origin": {"type": "channel", "chat": {"id": -1007, "title": "News"}, "author_signature": "Eve"},
        })
    };
    check_message(forward(true), expect!["message #42 News(-1007) user is=chat | new"]);
    check_message(forward(false), expect!["message #42 News(-1007) user is=chat from=News (Eve) | new"]);
}

#[test]
fn a_forward_says_where_it_is_from() {
    let forward = |origin: Value| json!({"text": "x", "forward_origin": origin});
    check_message(
        forward(json!({"type": "user", "sender_user": {"id": 6, "first_name": "Bob", "last_name": "Kask"}})),
        expect!["message #42 Ana(5) user from=Bob Kask | x"],
    );
    check_message(
        forward(json!({"type": "hidden_user", "sender_user_name": "Somebody"})),
        expect!["message #42 Ana(5) user from=Somebody | x"],
    );
    check_message(
        forward(json!({"type": "chat", "sender_chat": {"id": -7, "title": "Other"}})),
        expect!["message #42 Ana(5) user from=Other | x"],
    );
    check_message(forward(json!({})), expect!["message #42 Ana(5) user from=someone | x"]);
}

#[test]
fn only_a_topic_message_has_a_thread() {
    check_message(
        json!({"text": "x", "message_thread_id": 7, "is_topic_message": true}),
        expect!["message #42 Ana(5) user topic=7 | x"],
    );
    check_message(json!({"text": "x", "message_thread_id": 7}), expect!["message #42 Ana(5) user | x"]);
}

#[test]
fn a_reply_brings_its_parent_along() {
    let parent = message(json!({
        "message_id": 41, "from": {"id": 99, "is_bot": true, "first_name": "Chime"}, "text": "the answer",
        "message_thread_id": 7, "is_topic_message": true, "reply_to_message": message(json!({"message_id": 40})),
    }));
    check_message(
        json!({
            "text": "why?", "message_thread_id": 7, "is_topic_message": true, "reply_to_message": parent,
            "quote": {"text": "answer", "position": 4}
        }),
        expect![[r#"
            message #42 Ana(5) user topic=7 reply=41 quote=answer | why?
              parent #41 Chime(99) assistant is=bot topic=7 origin=snapshot | the answer"#]],
    );
}

#[test]
fn a_reply_to_the_creation_of_a_topic_is_no_reply() {
    let root = |fields: Value| message(fields);
    check_message(
        json!({
            "text": "x", "message_thread_id": 7, "is_topic_message": true,
            "reply_to_message": root(json!({"message_id": 7, "forum_topic_created": {"name": "Gear"}})),
        }),
        expect!["message #42 Ana(5) user topic=7 | x"],
    );
    check_message(
        json!({
            "text": "x", "message_thread_id": 7, "is_topic_message": true,
            "reply_to_message": root(json!({"message_id": 7})),
        }),
        expect!["message #42 Ana(5) user topic=7 | x"],
    );
    check_message(
        json!({
            "text": "x", "message_thread_id": 7,
            "reply_to_message": root(json!({"message_id": 7, "text": "a plain reply thread"})),
        }),
        expect![[r#"
            message #42 Ana(5) user reply=7 | x
              parent #7 Ana(5) user origin=snapshot | a plain reply thread"#]],
    );
}

#[test]
fn a_parent_that_cannot_be_read_is_still_replied_to() {
    check_message(
        json!({"text": "x", "reply_to_message": {"message_id": 41, "date": 0, "chat": {"id": -1001}}}),
        expect!["message #42 Ana(5) user reply=41 | x"],
    );
}

#[test]
fn a_parent_in_another_topic_of_the_chat_is_replied_to() {
    check_message(
        json!({
            "text": "see", "is_topic_message": true, "message_thread_id": 9,
            "external_reply": {
                "origin": {"sender_user": {"id": 6, "first_name": "Bob"}}, "chat": {"id": -1001}, "message_id": 41,
                "photo": [],
            },
        }),
        expect!["message #42 Ana(5) user topic=9 reply=41 snapshot=Bob: [photo] | see"],
    );
}

#[test]
fn a_parent_in_another_chat_is_only_remembered_as_a_snapshot() {
    check_message(
        json!({
            "text": "see", "quote": {"text": "the price is 5"},
            "external_reply": {"origin": {"sender_user": {"id": 6, "first_name": "Bob"}}, "chat": {"id": -1009}},
        }),
        expect!["message #42 Ana(5) user quote=the price is 5 snapshot=Bob: the price is 5 | see"],
    );
    check_message(
        json!({
            "text": "see",
            "external_reply": {"origin": {"chat": {"id": -1007, "title": "News"}}, "photo": [], "caption": "us"},
        }),
        expect!["message #42 Ana(5) user snapshot=News: [photo] us | see"],
    );
    check_message(
        json!({
            "text": "see", "reply_to_message":
            message(json!({"message_id": 3, "chat": {"id": -1009, "title": "Other"}, "text": "there"})),
        }),
        expect!["message #42 Ana(5) user snapshot=Other: there | see"],
    );
    check_message(
        json!({"text": "x", "reply_to_story": {"id": 1}}),
        expect!["message #42 Ana(5) user snapshot=[story] | x"],
    );
}

#[test]
fn what_only_one_member_sees_is_not_kept() {
    check_message(json!({"text": "psst", "receiver_user": {"id": 5}}), expect!["nothing"]);
    check_message(json!({"text": "psst", "ephemeral_message_id": 3, "message_id": null}), expect!["nothing"]);
    check("edited_message", message(json!({"text": "psst", "ephemeral_message_id": 3})), expect!["nothing"]);
    check_message(
        json!({
            "text": "what was that?", "quote": {"text": "psst"},
            "reply_to_message": message(json!({"message_id": 41, "receiver_user": {"id": 5}, "text": "psst"})),
        }),
        expect!["message #42 Ana(5) user | what was that?"],
    );
}

#[test]
fn a_command_that_only_the_bot_sees_is_read_with_its_own_number() {
    let command = json!([{"type": "bot_command", "offset": 0, "length": 7}]);
    let ephemeral = json!({
        "message_id": 0, "ephemeral_message_id": 3, "receiver_user": {"id": 99}, "text": "/search tent",
        "entities": command,
    });
    check_message(ephemeral, expect!["message #-3 Ana(5) system entities=0+7 BotCommand | /search tent"]);
    check(
        "callback_query",
        json!({"id": "q1", "from": {"id": 5}, "data": "x",
            "message": {"chat": {"id": -1001}, "message_id": 0, "ephemeral_message_id": 3, "date": 0}}),
        expect![[
            r#"Press(Press { query: "q1", chat: ChatId(-1001), message: MessageId(-3), by: UserId(5), data: "x" })"#
        ]],
    );
}

#[test]
fn messages_from_where_the_bot_is_no_member_are_questions_of_guests_at_most() {
    let guest = |fields: Value| {
        let mut asked = message(fields);
        asked["guest_query_id"] = json!("q");
        asked
    };
    check("guest_message", message(json!({"text": "hi"})), expect!["nothing"]);
    check("guest_message", guest(json!({"text": null})), expect!["nothing"]);
    check("guest_message", guest(json!({"text": "hi", "from": {"id": 6, "is_bot": true}})), expect!["nothing"]);
    check("guest_message", json!("whatever"), expect!["nothing"]);
    check(
        "guest_message",
        guest(json!({"text": "hi"})),
        expect!["Guest(GuestQuestion { chat: ChatId(-1001), by: UserId(5), .. })"],
    );
    check_message(json!({"text": "hi", "guest_query_id": "q"}), expect!["nothing"]);
}

#[test]
fn a_poll_is_read_with_its_votes() {
    check(
        "poll",
        json!({"id": "p", "question": "when?", "options": [{"text": "Mon", "voter_count": 2}, {"text": "Tue"}]}),
        expect![[
            r#"Poll(PollState { id: "p", poll: Poll { question: "when?", options: [("Mon", 2), ("Tue", 0)] } })"#
        ]],
    );
}

#[test]
fn captions_are_text_and_albums_share_a_name() {
    check_message(
        json!({
            "photo": [{"file_id": "x"}], "caption": "us @chime_bot", "media_group_id": "a1",
            "caption_entities": [{"type": "mention", "offset": 3, "length": 10}],
        }),
        expect!["message #42 Ana(5) user album=a1 entities=3+10 Mention | [photo] us @chime_bot"],
    );
}

#[test]
fn every_kind_of_content_has_its_line() {
    check_message(json!({"voice": {"duration": 12}}), expect!["message #42 Ana(5) user | [voice 0:12]"]);
    check_message(json!({"video_note": {"duration": 61}}), expect!["message #42 Ana(5) user | [video note 1:01]"]);
    check_message(json!({"audio": {"duration": 3725}}), expect!["message #42 Ana(5) user | [audio 62:05]"]);
    check_message(
        json!({"audio": {"duration": 201, "title": "Shanty", "performer": "The Rowers", "file_name": "t1.mp3"}}),
        expect!["message #42 Ana(5) user | [audio 3:21 The Rowers – Shanty]"],
    );
    check_message(
        json!({"video": {"duration": 34, "file_name": "seals.mp4"}}),
        expect!["message #42 Ana(5) user | [video 0:34 seals.mp4]"],
    );
    check_message(json!({"video": {"duration": -1}}), expect!["message #42 Ana(5) user | [video]"]);
    check_message(
        json!({"document": {"file_name": "report.pdf"}, "caption": "final"}),
        expect!["message #42 Ana(5) user | [document] report.pdf final"],
    );
    check_message(json!({"animation": {}, "document": {}}), expect!["message #42 Ana(5) user | [animation]"]);
    check_message(json!({"sticker": {"emoji": "🔥"}}), expect!["message #42 Ana(5) user | [sticker] 🔥"]);
    check_message(
        json!({"poll": {"question": "when?", "options": [{"text": "Mon"}, {"text": "Tue"}]}}),
        expect!["message #42 Ana(5) user | [poll] when?: Mon / Tue"],
    );
    check_message(
        json!({"venue": {"title": "Von Krahl", "address": "Rataskaevu 10"}, "location": {"latitude": 59.4, "longitude": 24.7}}),
        expect!["message #42 Ana(5) user | [location] Von Krahl, Rataskaevu 10"],
    );
    check_message(json!({"location": {}}), expect!["message #42 Ana(5) user | [location]"]);
    check_message(
        json!({"contact": {"phone_number": "+372 555", "first_name": "Bob", "last_name": "Kask"}}),
        expect!["message #42 Ana(5) user | [contact] Bob Kask, +372 555"],
    );
    check_message(json!({"dice": {"emoji": "🎲", "value": 5}}), expect!["message #42 Ana(5) user | [dice] 🎲 5"]);
    check_message(json!({"game": {"title": "Go"}}), expect!["message #42 Ana(5) user | [game] Go"]);
    check_message(json!({"story": {"id": 1}}), expect!["message #42 Ana(5) user | [story]"]);
    check_message(
        json!({"checklist": {"title": "Gig", "tasks": [{"text": "amps"}, {"text": "van"}]}}),
        expect!["message #42 Ana(5) user | [checklist Gig: amps / van]"],
    );
    check_message(json!({"invoice": {"title": "Ticket"}}), expect!["message #42 Ana(5) user | [invoice Ticket]"]);
    check_message(json!({"paid_media": {}, "caption": "x"}), expect!["message #42 Ana(5) user | [paid media] x"]);
    check_message(json!({"hologram": {}}), expect!["message #42 Ana(5) system | [unsupported message]"]);
    check_message(json!({"community_chat_joined": {}}), expect!["message #42 Ana(5) system | [joined by a community]"]);
}

#[test]
fn a_rich_message_is_read_as_plain_text() {
    let blocks = json!([
        {"type": "heading", "text": "Plan", "size": 1},
        {"type": "paragraph", "text": ["ask 🙂 ", {"type": "mention", "text": "@chime_bot", "username": "chime_bot"},
            {"type": "bold", "text": [" now", {"type": "custom_emoji", "alternative_text": "🔥"}]}]},
        {"type": "list", "items": [
            {"label": "1.", "blocks": [{"type": "paragraph", "text": "amps"}]},
            {"label": "2.", "blocks": [{"type": "paragraph", "text": "van"}, {"type": "pre", "text": "go"}]}]},
        {"type": "table", "cells": [[{"text": "a"}, {"text": "b"}]], "caption": {"text": "costs"}},
        {"type": "divider"}, 5, null,
    ]);
    check_message(
        json!({"rich_message": {"blocks": blocks}}),
        expect![[r#"
            message #42 Ana(5) user entities=12+10 Mention | Plan
            ask 🙂 @chime_bot now🔥
            1. amps
            2. van
            go
            a | b
            costs"#]],
    );
    check_message(json!({"rich_message": {}}), expect!["message #42 Ana(5) system | [unsupported message]"]);
}

#[test]
fn service_messages_are_told_in_a_few_words() {
    let bob = json!({"id": 6, "first_name": "Bob"});
    let ana = json!({"id": 5, "first_name": "Ana"});
    check_message(json!({"new_chat_members": [ana]}), expect!["message #42 Ana(5) system | [Ana joined]"]);
    check_message(
        json!({"new_chat_members": [bob, {"id": 7, "username": "cy"}]}),
        expect!["message #42 Ana(5) system | [added Bob, cy]"],
    );
    check_message(json!({"left_chat_member": ana}), expect!["message #42 Ana(5) system | [Ana left]"]);
    check_message(json!({"left_chat_member": bob}), expect!["message #42 Ana(5) system | [removed Bob]"]);
    check_message(json!({"pinned_message": {}}), expect!["message #42 Ana(5) system | [pinned a message]"]);
    check_message(json!({"new_chat_title": "Duo"}), expect!["message #42 Ana(5) system | [changed the title to Duo]"]);
    check_message(
        json!({"forum_topic_created": {"name": "Gear"}, "message_thread_id": 7, "is_topic_message": true}),
        expect!["message #42 Ana(5) system topic=7 | [created the topic Gear]"],
    );
    check_message(
        json!({"forum_topic_edited": {"icon_custom_emoji_id": ""}}),
        expect!["message #42 Ana(5) system | [changed the topic's icon]"],
    );
    check_message(json!({"delete_chat_photo": true}), expect!["message #42 Ana(5) system | [removed the chat photo]"]);
    check_message(
        json!({"video_chat_ended": {"duration": 65}}),
        expect!["message #42 Ana(5) system | [ended the video chat after 1:05]"],
    );
    check_message(
        json!({"video_chat_participants_invited": {"users": [bob]}}),
        expect!["message #42 Ana(5) system | [invited Bob to the video chat]"],
    );
    check_message(json!({"forum_topic_closed": {}}), expect!["message #42 Ana(5) system | [closed the topic]"]);
}

#[test]
fn a_migration_is_told_from_both_ends() {
    check_message(
        json!({"chat": {"id": -77, "type": "group", "title": "Band"}, "migrate_to_chat_id": -1001}),
        expect![[r#"
            message #42 Ana(5) system | [turned the group into a supergroup]
            Migration(Migration { from: ChatId(-77), to: ChatId(-1001) })"#]],
    );
    check_message(
        json!({"migrate_from_chat_id": -77}),
        expect![[r#"
            message #42 Ana(5) system | [turned the group into a supergroup]
            Migration(Migration { from: ChatId(-77), to: ChatId(-1001) })"#]],
    );
}

#[test]
fn entities_keep_their_place_and_senseless_ones_are_dropped() {
    let entity = |kind: &str, offset: i64, length: i64| json!({"type": kind, "offset": offset, "length": length});
    check_message(
        json!({
            "text": "🙂 some words", "via_bot": {"id": 8, "username": "gif"},
            "entities": [
                entity("mention", 8, 5), entity("bold", 3, 4), entity("date_time", 3, 1), entity("bold", -1, 4),
                entity("bold", 3, 11), entity("bold", 9_007_199_254_740_993, i64::MAX), entity("bold", 0, 0),
                {"type": "text_mention", "offset": 0, "length": 2, "user": {"id": 99}}, entity("text_mention", 0, 2),
                {"type": "text_link", "offset": 0, "length": 2, "url": "https://t.me"},
                {"type": "pre", "offset": 0, "length": 2, "language": "rust"}, null, {"offset": 1, "length": 1}
            ]
        }),
        expect![
            "message #42 Ana(5) user via=gif entities=0+2 TextMention { user: UserRef { id: UserId(99) } },0+2 Other,0+2 TextLink { url: \"https://t.me\" },0+2 Pre { language: Some(\"rust\") },1+1 Other,3+4 Bold,3+1 Other,8+5 Mention | 🙂 (https://t.me) some words"
        ],
    );
}

#[test]
fn fields_of_the_wrong_type_cost_only_themselves() {
    check_message(
        json!({
            "text": "hello", "from": {"id": 5, "first_name": 7, "username": "ana"}, "edit_date": "yesterday",
            "entities": {"type": "bold"}, "reply_to_message": [1, 2], "forward_origin": true, "quote": 5,
            "message_thread_id": "7", "is_topic_message": 1, "media_group_id": 5, "photo": null,
            "chat": {"id": -1001, "type": "hyperchat", "title": []}
        }),
        expect!["message #42 ana(5) user | hello"],
    );
}

#[test]
fn half_an_emoji_and_nul_lose_no_message() {
    let raw = |text: &str| {
        let json = message(json!({"text": "TEXT"})).to_string().replace("TEXT", text);
        show(&RawUpdate::parse(&format!(r#"{{"update_id":1,"message":{json}}}"#)))
    };
    expect!["message #42 Ana(5) user | cut � here"].assert_eq(&raw(r"cut \ud83d here"));
    expect!["message #42 Ana(5) user | 🙂 \\ud83d"].assert_eq(&raw(r"\ud83d\ude42 \\ud83d"));
    assert!(raw(r"a\u0000b").ends_with("a\0b"));
    assert!(raw(&"🙂".repeat(100_000)).ends_with("🙂"));
}

#[test]
fn without_an_id_a_date_or_a_chat_it_is_no_message() {
    let without = |field: &str| show(&update("message", message(json!({"text": "secret", field: null}))));
    expect!["malformed `message`: no message id"].assert_eq(&without("message_id"));
    expect!["malformed `message`: no date"].assert_eq(&without("date"));
    expect!["malformed `message`: no chat"].assert_eq(&without("chat"));
    check("message", json!("secret"), expect!["malformed `message`: data error at line 1 column 8"]);
    check("message", json!(null), expect!["malformed `message`: data error at line 1 column 4"]);
    expect!["malformed ``: data error at line 1 column 8"].assert_eq(&show(&RawUpdate::parse("\"secret\"")));
    expect!["malformed ``: syntax error at line 1 column 14"].assert_eq(&show(&RawUpdate::parse("{\"secret\":{},}")));
}

#[test]
fn a_message_that_is_only_scheduled_is_skipped() {
    check_message(json!({"message_id": 0, "text": "x"}), expect!["nothing"]);
}

#[test]
fn membership_of_the_bot() {
    let change = |status: &str, is_member: bool| {
        let chat = json!({"id": -1001, "type": "supergroup", "title": "Band", "username": "band"});
        let member = json!({"status": status, "user": {"id": 99}, "is_member": is_member});
        show(&update("my_chat_member", json!({"chat": chat, "from": {"id": 5}, "new_chat_member": member})))
    };
    expect![[r#"Membership(Membership { chat: Chat { id: ChatId(-1001), kind: Supergroup, title: Some("Band"), username: Some("band") }, by: UserId(5), language: None, is_member: true, is_admin: true, may_send: true })"#]]
        .assert_eq(&change("administrator", false));
    let status = |status: &str, is_member: bool| {
        let shown = change(status, is_member);
        let flags = shown.split_once("is_member: ").map(|(_, rest)| rest.to_owned()).unwrap();
        flags.trim_end_matches(", may_send: true })").to_owned()
    };
    assert_eq!(status("member", false), "true, is_admin: false");
    assert_eq!(status("restricted", true), "true, is_admin: false");
    assert_eq!(status("restricted", false), "false, is_admin: false");
    assert_eq!(status("left", false), "false, is_admin: false");
    assert_eq!(status("kicked", true), "false, is_admin: false");
    for (status, may_send) in [("restricted", false), ("member", true)] {
        let member = json!({"status": status, "user": {"id": 99}, "can_send_messages": false});
        let shown = show(&update(
            "my_chat_member",
            json!({"chat": {"id": -1001, "type": "supergroup"}, "from": {"id": 5}, "new_chat_member": member}),
        ));
        assert!(shown.contains(&format!("may_send: {may_send}")), "{shown}");
    }
}

#[test]
fn reactions_of_members_and_of_chats_and_of_nobody() {
    let reaction = |who: Value| {
        let mut reaction = json!({
            "chat": {"id": -1001, "type": "supergroup"}, "message_id": 41, "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": "👍"}, {"type": "custom_emoji", "custom_emoji_id": "1"}, {"type": "paid"}],
        });
        reaction.as_object_mut().unwrap().extend(who.as_object().unwrap().clone());
        reaction
    };
    check(
        "message_reaction",
        reaction(json!({"user": {"id": 5}})),
        expect![[
            r#"Reaction(Reaction { chat: ChatId(-1001), message: MessageId(41), by: Some(UserId(5)), emoji: ["👍"] })"#
        ]],
    );
    check(
        "message_reaction",
        reaction(json!({"actor_chat": {"id": -7}, "new_reaction": []})),
        expect!["Reaction(Reaction { chat: ChatId(-1001), message: MessageId(41), by: Some(UserId(-7)), emoji: [] })"],
    );
    check(
        "message_reaction",
        reaction(json!({})),
        expect![[r#"Reaction(Reaction { chat: ChatId(-1001), message: MessageId(41), by: None, emoji: ["👍"] })"#]],
    );
}

#[test]
fn a_pressed_button() {
    let press = |message: Value| json!({"id": "q1", "from": {"id": 5}, "data": "forget:yes", "message": message});
    check(
        "callback_query",
        press(json!({"chat": {"id": -1001}, "message_id": 41, "date": 0})),
        expect![[
            r#"Press(Press { query: "q1", chat: ChatId(-1001), message: MessageId(41), by: UserId(5), data: "forget:yes" })"#
        ]],
    );
    check("callback_query", press(json!(null)), expect!["nothing"]);
    let keyboard = json!({"inline_keyboard": [[{"text": "Yes", "callback_data": "forget:yes"}]]});
    for (markup, expected) in [(keyboard, "forget:yes"), (json!(null), ""), (json!({"inline_keyboard": [[]]}), "")] {
        let update = press(json!({"chat": {"id": -1001}, "message_id": 41, "date": 9, "reply_markup": markup}));
        let events = extract(&self::update("callback_query", update), BOT);
        assert!(matches!(events.as_deref(), Ok([Event::Press(press)]) if press.data == expected), "{events:?}");
    }
}

#[test]
fn known_kinds_without_use_give_nothing_and_unknown_ones_are_named() {
    check("poll", json!({}), expect!["nothing"]);
    check("managed_bot", json!("whatever"), expect!["nothing"]);
    check("telepathy", json!({}), expect!["unknown kind of update"]);
}

/// Returns `true` if `extract` must accept every valid update of this kind.
fn is_read(kind: &str) -> bool {
    crate::ALLOWED_UPDATES.contains(&kind)
}

#[test]
fn every_valid_update_is_read() {
    let mut seen = [0_usize; 2];
    for json in generate(BotApi::bundled(), 1, 10_000) {
        let update = RawUpdate::parse(&json);
        assert!(update.id.is_some(), "{json}");
        match extract(&update, BOT) {
            Ok(events) => seen[usize::from(!events.is_empty())] += 1,
            Err(Unreadable::UnknownKind) => {
                let fields: BTreeMap<String, Value> = serde_json::from_str(&json).expect("an object");
                assert!(!fields.keys().any(|kind| is_read(kind)), "{json}");
            }
            Err(error) => panic!("{error} in {json}"),
        }
    }
    // Every second generated chat holds the direct messages of a channel, which give no events.
    assert!(seen[0] > 6_000 && seen[1] > 1_800, "{seen:?}");
}

#[test]
fn no_mutilated_update_causes_a_panic() {
    let mut dice = Dice::new(2);
    let mut unreadable = 0;
    for json in generate(BotApi::bundled(), 2, 2_000) {
        unreadable += usize::from(extract(&RawUpdate::parse(&mutilate(&json, &mut dice)), BOT).is_err());
    }
    assert!(unreadable > 200, "the mutilation does too little: {unreadable}");
}

#[test]
fn entities_of_any_valid_update_lie_within_its_text() {
    for json in generate(BotApi::bundled(), 3, 2_000) {
        for event in extract(&RawUpdate::parse(&json), BOT).unwrap_or_default() {
            let (Event::Message(arrival) | Event::Edit(arrival)) = event else { continue };
            let message = arrival.message;
            let length = chime_core::utf16_len(&message.text);
            assert!(message.entities.iter().all(|entity| entity.offset + entity.length <= length), "{json}");
            assert!(message.kind != Kind::Text || !message.text.is_empty(), "{json}");
        }
    }
}
