use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::tests::{Desk, NOON};
use crate::{BotAction, ChatMemberStatus, Cursor, NewChat, Post};

/// Checks the response to `sendMessage` with these parameters, in a group where message 1 is `hello 🎉`.
async fn sending(params: Value, expected: Expect) {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hello 🎉"]);
    let mut params = params;
    if params.get("chat_id").is_none() {
        params["chat_id"] = json!(chat);
    }
    let answer = desk.call("sendMessage", params).await;
    let shown = match answer["ok"].as_bool() {
        Some(true) => format!("{} {}", answer["result"]["text"], answer["result"]["entities"]),
        _ => answer["description"].as_str().unwrap().to_owned(),
    };
    expected.assert_eq(&shown);
}

#[tokio::test]
async fn a_message_goes_into_the_chats_own_sequence_and_not_back_to_the_bot() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["one"]);
    let sent = desk.send(chat, "two").await;
    assert_eq!((sent["message_id"].as_i64(), sent["from"]["is_bot"].as_bool()), (Some(2), Some(true)));
    assert_eq!(desk.texts(json!({})).await, ["one"]);
    assert_eq!(desk.sandbox.sent_by_bot(chat)[0].text, "two");
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn text_is_trimmed_and_its_marks_move_along() {
    let bold = json!([{"type": "bold", "offset": 2, "length": 4}]);
    sending(
        json!({"text": "  bold @ann ", "entities": bold}),
        expect![[r#""bold @ann" [{"length":4,"offset":0,"type":"bold"},{"length":4,"offset":5,"type":"mention"}]"#]],
    )
    .await;
}

#[tokio::test]
async fn an_empty_text_is_refused() {
    sending(json!({"text": " \n"}), expect!["Bad Request: message text is empty"]).await;
    sending(json!({}), expect!["Bad Request: message text is empty"]).await;
}

#[tokio::test]
async fn a_text_is_measured_in_utf_16_units() {
    sending(json!({"text": "🎉".repeat(2049)}), expect!["Bad Request: message is too long"]).await;
    sending(json!({"text": "é".repeat(4097)}), expect!["Bad Request: message is too long"]).await;
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    desk.send(chat, &"🎉".repeat(2048)).await;
}

#[tokio::test]
async fn marks_that_do_not_fit_are_refused() {
    let with = |entity: Value| json!({"text": "🎉 party", "entities": [entity]});
    sending(
        with(json!({"type": "bold", "offset": 0, "length": 9})),
        expect!["Bad Request: entity beginning at UTF-16 offset 0 ends after the end of the text at UTF-16 offset 9"],
    )
    .await;
    sending(
        with(json!({"type": "shiny", "offset": 0, "length": 2})),
        expect!["Bad Request: can't parse MessageEntity: Unsupported type specified"],
    )
    .await;
    sending(
        with(json!({"type": "text_link", "offset": 0, "length": 2, "url": "localhost"})),
        expect!["Bad Request: entity URL is invalid: Wrong HTTP URL"],
    )
    .await;
}

#[tokio::test]
async fn an_unknown_chat_is_not_found() {
    sending(json!({"chat_id": -5, "text": "hi"}), expect!["Bad Request: chat not found"]).await;
}

#[tokio::test]
async fn a_reply_to_nothing_is_refused_unless_it_may_go_alone() {
    sending(
        json!({"text": "hi", "reply_parameters": {"message_id": 9}}),
        expect!["Bad Request: message to be replied not found"],
    )
    .await;
    let lenient = json!({"message_id": 9, "allow_sending_without_reply": true});
    sending(json!({"text": "hi", "reply_parameters": lenient}), expect![[r#""hi" null"#]]).await;
}

#[tokio::test]
async fn buttons_carry_at_most_64_bytes() {
    let button = |data: String| json!({"text": "hi", "reply_markup": {"inline_keyboard": [[{"text": "on", "callback_data": data}]]}});
    sending(button("x".repeat(65)), expect!["Bad Request: BUTTON_DATA_INVALID"]).await;
    sending(button("x".repeat(64)), expect![[r#""hi" null"#]]).await;
}

#[tokio::test]
async fn a_restricted_bot_may_not_write() {
    let desk = Desk::open().await;
    let chat = desk.sandbox.add_chat(NewChat::group("Deploys").with_bot(ChatMemberStatus::Restricted));
    let refusal = desk.refusal("sendMessage", json!({"chat_id": chat, "text": "hi"})).await;
    assert_eq!(refusal, "400 Bad Request: not enough rights to send text messages to the chat");
}

#[tokio::test]
async fn any_case_of_the_method_is_understood() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    desk.call("SENDMESSAGE", json!({"chat_id": chat, "text": "a"})).await;
    desk.call("sendmessage", json!({"chat_id": chat, "text": "b"})).await;
    let sent = desk.sandbox.sent_by_bot(chat);
    assert_eq!(sent.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn an_unknown_method_is_not_found_and_noticed() {
    let desk = Desk::open().await;
    assert_eq!(desk.refusal("sendMesage", json!({})).await, "404 Not Found");
    assert_eq!(desk.sandbox.unexpected(), ["method sendMesage"]);
}

#[tokio::test]
async fn another_token_is_unauthorized() {
    let desk = Desk::open().await;
    let url = format!("{}/bot1:wrong/getMe", desk.sandbox.api_url());
    assert_eq!(desk.client.get(url).send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn an_edit_must_change_something_and_be_of_an_own_message() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hello"]);
    desk.send(chat, "thinking").await;
    let edit = |id: i64, text: &str| json!({"chat_id": chat, "message_id": id, "text": text});
    let edited = desk.call("editMessageText", edit(2, "done")).await;
    assert_eq!(Desk::result(&edited)["text"], "done");
    let again = desk.refusal("editMessageText", edit(2, "done")).await;
    assert!(again.starts_with("400 Bad Request: message is not modified"), "{again}");
    assert_eq!(desk.refusal("editMessageText", edit(1, "x")).await, "400 Bad Request: message can't be edited");
    assert_eq!(desk.refusal("editMessageText", edit(7, "x")).await, "400 Bad Request: message to edit not found");
    assert_eq!(desk.sandbox.pending_updates(), 1);
}

#[tokio::test]
async fn a_bot_deletes_its_own_messages_and_as_admin_all() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hello"]);
    desk.send(chat, "oops").await;
    let delete = |id: i64| json!({"chat_id": chat, "message_id": id});
    assert_eq!(desk.refusal("deleteMessage", delete(1)).await, "400 Bad Request: message can't be deleted");
    Desk::result(&desk.call("deleteMessage", delete(2)).await);
    assert_eq!(desk.refusal("deleteMessage", delete(2)).await, "400 Bad Request: message to delete not found");
    let ann = desk.sandbox.add_member(chat, "ann");
    desk.sandbox.add_bot_to(chat, ChatMemberStatus::Administrator, ann);
    Desk::result(&desk.call("deleteMessage", delete(1)).await);
    assert!(desk.sandbox.messages(chat).is_empty());
}

#[tokio::test]
async fn what_the_bot_does_is_seen_in_order() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hello"]);
    let start = desk.sandbox.cursor();
    let bot = async {
        desk.call(
            "setMessageReaction",
            json!({"chat_id": chat, "message_id": 1, "reaction": [{"type": "emoji", "emoji": "👀"}]}),
        )
        .await;
        desk.call("sendChatAction", json!({"chat_id": chat, "action": "typing"})).await;
        desk.send(chat, "hi").await;
        desk.call("editMessageText", json!({"chat_id": chat, "message_id": 2, "text": "hi!"})).await;
        desk.call("deleteMessage", json!({"chat_id": chat, "message_id": 2})).await;
    };
    let watching = async {
        let mut seen = Vec::new();
        let mut cursor = start;
        while seen.len() < 5 {
            let (action, next) = desk.sandbox.next_from_bot(cursor).await;
            cursor = next;
            seen.push(match action {
                BotAction::Sent(message) => format!("sent {}", message.text),
                BotAction::Edited(message) => format!("edited {}", message.text),
                other => format!("{other:?}").split(' ').next().unwrap_or_default().to_owned(),
            });
        }
        seen
    };
    let ((), seen) = tokio::join!(bot, watching);
    assert_eq!(seen, ["Reacted", "Typing", "sent hi", "edited hi!", "Deleted"]);
    assert_eq!(desk.sandbox.next_sent(Cursor::default()).await.0.text, "hi");
    desk.expect_nothing_unexpected();
}

#[tokio::test]
async fn a_reaction_is_one_known_emoji() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&["hello"]);
    let react = |id: i64, emoji: &[&str]| {
        let reaction: Vec<Value> = emoji.iter().map(|emoji| json!({"type": "emoji", "emoji": emoji})).collect();
        json!({"chat_id": chat, "message_id": id, "reaction": reaction})
    };
    assert_eq!(desk.refusal("setMessageReaction", react(1, &["🦖"])).await, "400 Bad Request: REACTION_INVALID");
    assert_eq!(
        desk.refusal("setMessageReaction", react(1, &["👍", "🔥"])).await,
        "400 Bad Request: REACTIONS_TOO_MANY"
    );
    assert_eq!(
        desk.refusal("setMessageReaction", react(9, &["👍"])).await,
        "400 Bad Request: message to react not found"
    );
    Desk::result(&desk.call("setMessageReaction", react(1, &["👍"])).await);
    assert_eq!(desk.sandbox.messages(chat)[0].reactions[&desk.sandbox.bot_id()], ["👍"]);
}

#[tokio::test]
async fn a_press_on_a_button_is_answered_once() {
    let desk = Desk::open().await;
    let chat = desk.group_saying(&[]);
    let ann = desk.sandbox.add_member(chat, "ann");
    let keyboard = json!({"inline_keyboard": [[{"text": "on", "callback_data": "s:on"}]]});
    desk.call("sendMessage", json!({"chat_id": chat, "text": "settings", "reply_markup": keyboard})).await;
    let shown = desk.sandbox.sent_by_bot(chat)[0].id;
    let press = desk.sandbox.press(chat, shown, ann, "s:on");
    let updates = desk.poll(json!({})).await;
    assert_eq!(updates[0]["callback_query"]["message"]["reply_markup"], keyboard);
    assert_eq!(updates[0]["callback_query"]["data"], "s:on");
    let answer = json!({"callback_query_id": press});
    Desk::result(&desk.call("answerCallbackQuery", answer.clone()).await);
    assert!(desk.refusal("answerCallbackQuery", answer).await.starts_with("400 Bad Request: query is too old"));
}

#[tokio::test]
async fn commands_are_kept_by_scope() {
    let desk = Desk::open().await;
    let why = json!([{"command": "why", "description": "What an answer rests on"}]);
    let scope = json!({"type": "all_group_chats"});
    Desk::result(&desk.call("setMyCommands", json!({"commands": why, "scope": scope})).await);
    assert_eq!(desk.sandbox.commands(), [(scope.to_string(), why)]);
    let shouting = json!([{"command": "Why", "description": "x"}]);
    let refusal = desk.refusal("setMyCommands", json!({"commands": shouting})).await;
    assert_eq!(refusal, "400 Bad Request: BOT_COMMAND_INVALID");
}

#[tokio::test]
async fn teloxide_reads_messages_and_updates() {
    use teloxide::prelude::Requester;
    use teloxide::types::ChatId;
    let desk = Desk::open().await;
    let chat = desk.sandbox.add_chat(NewChat::forum("Deploys").with_bot(ChatMemberStatus::Administrator));
    let ann = desk.sandbox.add_member(chat, "ann");
    let topic = desk.sandbox.create_topic(chat, "Outage");
    desk.sandbox.say(chat, Post::new(ann, "down again", NOON).in_forum_topic(topic));
    let bot = teloxide::Bot::new(desk.sandbox.token()).set_api_url(desk.sandbox.api_url().parse().unwrap());
    assert_eq!(bot.send_message(ChatId(chat.0), "hi").await.unwrap().text(), Some("hi"));
    let updates = bot.get_updates().await.unwrap();
    let kinds = updates.iter().map(|update| update.chat().map(|chat| chat.id.0));
    assert_eq!(kinds.collect::<Vec<_>>(), [Some(chat.0), Some(chat.0)]);
    desk.expect_nothing_unexpected();
}
