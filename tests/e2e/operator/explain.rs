//! `chime explain`, beside the running daemon.

use std::process::{Command, Output};

use chime::domain::MessageId;
use chime::testkit::World;
use serde_json::Value;

fn explain(w: &World, message: MessageId, more: &[&str]) -> Output {
    let folder = w.database().parent().expect("a folder").join("empty");
    std::fs::create_dir_all(&folder).expect("a folder without .env");
    Command::new(env!("CARGO_BIN_EXE_chime"))
        .args(["explain", &w.chat.to_string(), &message.to_string()])
        .args(more)
        .env_clear()
        .env("DATABASE_PATH", w.database())
        .current_dir(folder)
        .output()
        .expect("run chime")
}

fn window(output: &Output) -> Vec<i64> {
    let decision: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    for name in ["trigger", "anchor", "window", "omitted", "slots"] {
        assert!(decision.get(name).is_some(), "{name} is not in {decision}");
    }
    let entries = decision["window"].as_array().expect("a list");
    for entry in entries {
        assert!(entry["reason"].is_string() && entry["score"].is_number(), "{entry}");
        let features = entry["features"].as_object().expect("features by name");
        assert!(!features.is_empty(), "{entry}");
        assert!(features.values().all(|it| it["value"].is_number() && it["contribution"].is_number()), "{entry}");
    }
    entries.iter().filter_map(|entry| entry["id"].as_i64()).collect()
}

#[tokio::test]
async fn a_decision_is_shown_and_tried_again_under_other_settings() {
    World::run(async |w| {
        w.say("ann", "shall we take the boat on saturday?");
        w.say("ben", &format!("the boat on saturday needs {}", "a new coat of paint ".repeat(30)));
        w.say("ann", "the boat it is then");
        w.model.script(["Saturday."]);
        let tag = w.say("cat", "@bot what about the boat?");
        w.answer_to(tag).await;
        w.settled().await;

        let all = window(&explain(w, tag, &["--json"]));
        assert_eq!(all.len(), 3);
        let told = explain(w, tag, &[]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("window   3 messages") && !told.contains("paint"), "{told}");
        assert!(told.contains("#1        ") && told.lines().any(|line| line.contains(" +")), "{told}");
        let fewer = window(&explain(w, tag, &["--json", "--with", "CONTEXT_TOKENS=100"]));
        assert!(fewer.len() < all.len(), "{fewer:?} of {all:?}");

        let refused = explain(w, tag, &["--with", "MODEL=other"]);
        assert_eq!(refused.status.code(), Some(2));
        let why = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(why.contains("the choice of messages depends on CONTEXT_TOKENS"), "{why}");
        assert_eq!(explain(w, MessageId(999), &[]).status.code(), Some(1));
    })
    .await;
}

#[tokio::test]
async fn what_was_compared_further_back_is_shown() {
    World::run(async |w| {
        let began = w.say("ann", "we should look at the thai restaurant in melrose for the gathering");
        for n in 0..210 {
            w.say(["dan", "eve", "fay"][n % 3], &format!("train {} is late again, platform {}", n * 7, n * 13));
        }
        w.say("cleo", "the thai restaurant in melrose, for the gathering?");
        w.model.script(["Book it."]);
        let tag = w.say("ben", "@bot thoughts?");
        w.answer_to(tag).await;
        w.settled().await;

        let shown = explain(w, tag, &["--json"]);
        let decision: Value = serde_json::from_slice(&shown.stdout).expect("one JSON object");
        let places = decision["further_back"].as_array().expect("a list");
        let of_restaurant = places.iter().find(|place| place["ids"][0].as_i64() == Some(began.0));
        let of_restaurant = of_restaurant.unwrap_or_else(|| panic!("the restaurant is not in {places:?}"));
        assert!(of_restaurant["taken"].is_boolean() && of_restaurant["score"].is_number(), "{of_restaurant}");
        let words = &of_restaurant["features"]["beyond.words"];
        assert!(words["value"].is_number() && words["contribution"].is_number(), "{of_restaurant}");
        let told = explain(w, tag, &[]);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains(&format!("older    {} places compared", places.len())), "{told}");
        assert!(told.lines().any(|line| line.starts_with(&format!("  #{} ", began.0))), "{told}");
    })
    .await;
}
