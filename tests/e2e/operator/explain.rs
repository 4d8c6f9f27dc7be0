//! `chime explain`, while the daemon runs.

use std::process::{Command, Output};

use chime_core::MessageId;
use chime_world::World;
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
    for name in ["trigger", "anchor", "focus", "surroundings", "window", "omitted", "slots"] {
        assert!(decision.get(name).is_some(), "{name} is not in {decision}");
    }
    let entries = decision["window"].as_array().expect("a list");
    for entry in entries {
        assert!(entry["part"] == "focus" || entry["part"] == "surroundings", "{entry}");
        assert!(entry["reason"].is_string() && entry["score"].is_number(), "{entry}");
        let features = entry["features"].as_object().expect("features by name");
        assert!(!features.is_empty(), "{entry}");
        assert!(features.values().all(|it| it["value"].is_number() && it["contribution"].is_number()), "{entry}");
    }
    entries.iter().filter_map(|entry| entry["id"].as_i64()).collect()
}

#[tokio::test]
async fn focus_and_surroundings_are_those_of_the_prompt() {
    World::run(async |w| {
        let said = w.play(
            "
            -3d 17:00 ann#1 We should look at the restaurant for the gathering
            -2d 17:10 ben#2>1 Any thoughts?
            -1d 20:00 cat#3 Did you see the match yesterday?
            -1d 20:01 dan#4>3 our keeper could not catch a cold
            10:00 cat#6>2 The thai restaurant on 10th Ave?
            ",
        );
        w.model.script(["The thai one."]);
        let tag = w.say("ann", "@bot");
        w.answer_to(tag).await;
        w.settled().await;
        let decision: Value = serde_json::from_slice(&explain(w, tag, &["--json"]).stdout).expect("one JSON object");
        let ids = |part: &str| -> Vec<i64> { serde_json::from_value(decision[part].clone()).expect("ids") };
        assert_eq!(ids("focus"), [said[0].0, said[1].0, said[4].0]);
        assert_eq!(ids("surroundings"), [said[2].0, said[3].0]);
        let prompt = w.prompt(1).await;
        for line in ["We should look", "Did you see", "The thai restaurant"] {
            assert!(prompt.contains(line), "{prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_decision_is_shown_and_tried_again_under_other_settings() {
    World::run(async |w| {
        w.say("ann", "shall we take the boat on saturday?");
        w.say("ben", &format!("the boat on saturday needs {}", "a new coat of paint ".repeat(30)));
        w.say("ann", "the boat it is then");
        for n in 1..7 {
            w.say("dan", &format!("the boat needs {n} more ropes before it can go out on saturday"));
        }
        w.model.script(["Saturday."]);
        let tag = w.say("cat", "@bot what about the boat?");
        w.answer_to(tag).await;
        w.settled().await;

        let all = window(&explain(w, tag, &["--json"]));
        assert_eq!(all.len(), 9);
        let actual = explain(w, tag, &[]);
        let actual = String::from_utf8_lossy(&actual.stdout).into_owned();
        assert!(actual.contains("focus    ") && actual.contains("around   "), "{actual}");
        assert!(actual.contains("dan: \"the boat needs 1 more ropes"), "{actual}");
        assert!(actual.contains("#1        ") && actual.lines().any(|line| line.contains(" +")), "{actual}");
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
        let actual = explain(w, tag, &[]);
        let actual = String::from_utf8_lossy(&actual.stdout).into_owned();
        assert!(actual.contains(&format!("older    {} messages compared", places.len())), "{actual}");
        assert!(actual.lines().any(|line| line.starts_with(&format!("  #{} ", began.0))), "{actual}");
    })
    .await;
}

#[tokio::test]
async fn a_decision_is_explained_as_the_daemon_has_made_it() {
    World::run(async |w| {
        w.say("ann", "shall we take the boat on saturday?");
        w.say("ben", "the projector is dead again");
        w.say("cat", "the boat needs paint, and the sail is torn");
        w.model.always("Yes.");
        for tag in ["@bot\nwhat about\n  the boat?", "/ask@bot what about the boat?", "the boat, @bot ?", "@bot"] {
            let tag = w.say("dan", tag);
            let answer = w.answer_to(tag).await;
            let chosen: Vec<i64> = w.record_of(&answer).await.window.iter().map(|chosen| chosen.id.0).collect();
            assert_eq!(window(&explain(w, tag, &["--json"])), chosen);
        }
    })
    .await;
}
