//! `chime chats`, beside the running daemon.

use std::process::Command;

use chime_sandbox::{ChatMemberStatus, NewMember, Post};
use chime_world::World;
use serde_json::{Value, json};

fn chats(w: &World, more: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_chime"))
        .arg("chats")
        .args(more)
        .env_clear()
        .env("DATABASE_PATH", w.database())
        .current_dir(w.database().parent().expect("a folder"))
        .output()
        .expect("run chime");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn chats_are_listed_with_size_and_own_settings() {
    World::run(async |w| {
        w.play("10:00 ann#1 the boat leaves at nine");
        w.settled().await;
        let before: Value = serde_json::from_str(&chats(w, &["--json"])).expect("one line of JSON");
        assert_eq!(
            (&before["id"], &before["messages"], &before["settings"]),
            (&json!(w.chat.0), &json!(1), &json!({}))
        );
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let zone = "/settings@bot timezone europe/tallinn";
        let set = w.telegram.say(w.chat, Post::new(eve, zone, w.clock.now()));
        w.answer_to(set).await;
        let listed = chats(w, &[]);
        assert_eq!(listed.lines().count(), 1, "{listed}");
        for part in [&w.chat.to_string(), "supergroup", "2 messages", "time_zone=Europe/Tallinn"] {
            assert!(listed.contains(part), "{part} is not in {listed}");
        }
        let after: Value = serde_json::from_str(&chats(w, &["--json"])).expect("one line of JSON");
        assert_eq!(after["settings"], json!({ "time_zone": "Europe/Tallinn" }));
    })
    .await;
}
