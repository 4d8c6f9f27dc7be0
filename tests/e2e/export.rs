//! `/export`: a chat's own data for its creator.

use std::time::Duration;

use chime_core::{ChatId, UserId};
use chime_sandbox::faults::Fault;
use chime_sandbox::{BotAction, ChatMemberStatus, Cursor, NewChat, NewMember, Post, SandboxMessage};
use chime_world::World;
use serde_json::{Value, json};

use crate::memory::{NO_MODEL, ON, TALK, until_summarized};

const WHO: &str = "Only the creator and the admins of this chat can export it.";
const HOUR: Duration = Duration::from_secs(60 * 60);

fn uploads(w: &World) -> Vec<(ChatId, String)> {
    let actions = w.telegram.actions_since(Cursor::default());
    let file = |action: BotAction| match action {
        BotAction::Uploaded { chat, text, .. } => Some((chat, text)),
        _ => None,
    };
    actions.into_iter().filter_map(file).collect()
}

#[tokio::test]
async fn the_creator_of_a_group_gets_all_that_is_kept_of_it_in_private() {
    World::run(async |w| {
        w.say("ann", "the boat is at the lake");
        w.say("ben", "and the key under the plant");
        let refused = w.say("ben", "/export");
        assert_eq!(w.answer_to(refused).await.text, WHO);
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Creator));
        let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
        let shown = "I can't write to you yet. Open a private chat with me, press Start, and ask here again.";
        assert_eq!(w.answer_to(asked).await.text, shown);
        assert_eq!(uploads(w), []);
        let private = w.telegram.add_chat(NewChat::private("cat"));
        let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
        while w.next_sent().await.reply_to != Some(asked) {}
        let [(chat, text)] = &uploads(w)[..] else { panic!("one file") };
        assert_eq!(*chat, private);
        let file: Value = serde_json::from_str(text).expect("the file is JSON");
        assert_eq!(file["messages"][0]["text"], "the boat is at the lake");
        assert_eq!(file["chat"]["id"], w.chat.0);
    })
    .await;
}

#[tokio::test]
async fn a_file_whose_arrival_is_never_known_is_sent_twice_at_most() {
    World::run(async |w| {
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Creator));
        w.telegram.add_chat(NewChat::private("cat"));
        w.telegram.fault("sendDocument", Fault::DropAfter, 9);
        let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
        while w.next_sent().await.reply_to != Some(asked) {}
        assert_eq!(uploads(w).len(), 2);
        w.telegram.clear_faults();
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn who_asks_in_the_name_of_the_group_is_told_why_no_file_can_be_sent() {
    World::run(async |w| {
        let ann = stand(w, "ann", ChatMemberStatus::Creator);
        let asked = w.telegram.say(w.chat, Post::new(ann, "/export", w.clock.now()).as_chat(w.chat));
        assert!(w.answer_to(asked).await.text.contains("I can't tell whom to send the file to"));
        assert_eq!(uploads(w), []);
    })
    .await;
}

/// Gives `name` this standing in the group.
fn stand(w: &World, name: &str, status: ChatMemberStatus) -> UserId {
    w.telegram.add_member(w.chat, NewMember::named(name).status(status))
}

/// Returns the reply to a command by `who` in the group, skipping a file that may come first.
async fn order(w: &mut World, who: UserId, text: &str) -> SandboxMessage {
    let asked = w.telegram.say(w.chat, Post::new(who, text, w.clock.now()));
    loop {
        let sent = w.next_sent().await;
        if sent.reply_to == Some(asked) {
            return sent;
        }
        assert_ne!(sent.chat, w.chat, "{}", sent.text);
    }
}

/// Returns the bot's next message in the group.
async fn next_in_group(w: &mut World) -> String {
    loop {
        let sent = w.next_sent().await;
        if sent.chat == w.chat {
            return sent.text;
        }
    }
}

#[tokio::test]
async fn another_admin_gets_the_file_after_a_day_in_which_the_chat_was_told() {
    World::run(async |w| {
        w.say("ann", "the boat is at the lake");
        let dan = stand(w, "dan", ChatMemberStatus::Administrator);
        let private = w.telegram.add_chat(NewChat::private("dan"));
        let shown = order(w, dan, "/export").await.text;
        assert!(shown.starts_with("In 24 h I will send everything I keep from this chat"), "{shown}");
        w.clock.advance(HOUR);
        assert!(order(w, dan, "/export").await.text.starts_with("In 23 h"), "asking twice changes nothing");
        assert_eq!(uploads(w), []);
        w.clock.advance(HOUR * 23);
        assert!(next_in_group(w).await.starts_with("I sent you a file in private"));
        let [(chat, text)] = &uploads(w)[..] else { panic!("one file") };
        assert_eq!(*chat, private);
        assert!(text.contains("the boat is at the lake"));

        assert!(order(w, dan, "/export").await.text.starts_with("In 24 h"), "once a day, as often as it is asked for");
        w.clock.advance(HOUR * 24);
        assert!(next_in_group(w).await.starts_with("I sent you a file in private"));
        assert_eq!(uploads(w).len(), 2);
    })
    .await;
}

#[tokio::test]
async fn an_announced_export_is_called_off_by_any_admin_and_by_losing_the_rights() {
    World::run(async |w| {
        w.say("ann", "the boat is at the lake");
        let (dan, eve) =
            (stand(w, "dan", ChatMemberStatus::Administrator), stand(w, "eve", ChatMemberStatus::Administrator));
        w.telegram.add_chat(NewChat::private("dan"));
        assert!(order(w, dan, "/export").await.text.starts_with("In 24 h"));
        let ben = stand(w, "ben", ChatMemberStatus::Member);
        assert_eq!(order(w, ben, "/export stop").await.text, WHO);
        assert_eq!(order(w, eve, "/export stop").await.text, "Cancelled: nothing will be exported.");
        assert_eq!(order(w, eve, "/export stop").await.text, "No export is planned.");
        w.clock.advance(HOUR * 25);
        w.settled().await;

        assert!(order(w, dan, "/export").await.text.starts_with("In 24 h"));
        stand(w, "dan", ChatMemberStatus::Member);
        w.clock.advance(HOUR * 24);
        assert!(
            next_in_group(w).await.starts_with("The person who asked me to export this chat is no longer an admin")
        );
        assert_eq!(uploads(w), []);
    })
    .await;
}

#[tokio::test]
async fn an_export_is_never_refused_for_being_asked_often() {
    World::with(&[("RATE_LIMIT", "3/1m")], async |w| {
        let cat = stand(w, "cat", ChatMemberStatus::Creator);
        w.telegram.add_chat(NewChat::private("cat"));
        for _ in 0..4 {
            assert!(order(w, cat, "/export").await.text.starts_with("I sent you a file"));
        }
        assert_eq!(uploads(w).len(), 4);
        assert!(order(w, cat, "/privacy@bot").await.text.contains("/forget"), "privacy is refused to nobody");
    })
    .await;
}

#[tokio::test]
async fn an_export_has_what_is_kept_besides_the_messages() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        for (name, text) in TALK {
            w.say(name, text);
        }
        w.settled().await;
        w.clock.advance(HOUR * 2);
        until_summarized(w, 1).await;
        let cat = stand(w, "cat", ChatMemberStatus::Creator);
        w.telegram.add_chat(NewChat::private("cat"));
        order(w, cat, "/settings@bot persona Whisper like a cat.").await;
        order(w, cat, "/settings@bot answer_length short").await;
        order(w, cat, "/note the key hangs behind the door").await;
        order(w, cat, "/remind tomorrow at 9 pack the ropes").await;
        order(w, cat, "/export").await;
        let [(_, text)] = &uploads(w)[..] else { panic!("one file") };
        let file: Value = serde_json::from_str(text).expect("the file is JSON");
        let set = json!([{"topic": null, "name": "answer_length", "value": "short"}]);
        assert_eq!(file["settings"], set, "a persona is shown to nobody");
        assert_eq!(file["notes"][0]["text"], "the key hangs behind the door", "{file:#}");
        let id = |text: &str| {
            let messages = file["messages"].as_array().expect("messages");
            let of = messages.iter().find(|one| one["text"].as_str().is_some_and(|it| it.contains(text)));
            of.map_or(Value::Null, |one| one["id"].clone())
        };
        let reminder = &file["reminders"][0];
        assert_eq!((&reminder["message"], &reminder["repeat"]), (&id("pack the ropes"), &Value::Null), "{reminder}");
        assert!(reminder["due"].as_i64() > Some(w.clock.now().secs()), "{reminder}");
        let lines = file["sessions"][0]["lines"].as_array().expect("lines");
        let decision = lines.iter().find(|line| line["kind"] == "decision").expect("the decision");
        assert_eq!(decision["messages"][0], id("then we decided"));
        assert!(decision["text"].as_str().is_some_and(|text| text.starts_with("cat: then we decided")), "{decision}");
        assert!(file["recent"].as_array().is_some_and(|lines| !lines.is_empty()), "{file:#}");
        assert!(
            file["topics"].as_array().is_some_and(|topics| topics.iter().any(|it| it["name"] == "tent")),
            "{file:#}"
        );
    })
    .await;
}
