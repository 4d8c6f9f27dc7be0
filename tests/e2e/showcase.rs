//! What a curious person types into `chime demo`, line by line, and what each answer must and must not hold.

use std::io::Write;
use std::process::{Command, Stdio};

/// What is typed; what the reply must hold; what it must not.
type Turn = (&'static str, &'static [&'static str], &'static [&'static str]);

const SESSION: &[Turn] = &[
    ("@bot thoughts?", &["The thai restaurant", "table for nine"], &["keeper", "😂"]),
    ("@bot", &["The thai restaurant"], &["keeper"]),
    ("@bot where is the key?", &["Under the plant", "Who has the key"], &["thai", "@bot"]),
    ("@bot and?", &["Under the plant"], &["keeper"]),
    ("@bot when is the film?", &["Half past"], &["plant", "@bot"]),
    ("> 9 @bot", &["Sound settings", "there is no sound"], &["thai", "garden"]),
    ("@bot did we sort out the projector sound?", &["Sound works too now"], &["garden", "@bot"]),
    ("@bot what did lunch cost there?", &["Lunch there was 24"], &["plant", "projector"]),
    ("@bot who eats no meat?", &["Carl's sister"], &["keeper"]),
    ("@bot how many of us are coming to the restaurant?", &["nine"], &["keeper"]),
    ("> 12 @bot", &["keeper"], &["thai"]),
    ("> 1 @bot", &["We should look at the restaurant"], &["keeper"]),
    ("> 16 @bot what is this about?", &["Under the plant"], &["thai"]),
    ("@bot who buys the spare cable?", &["spare cable"], &["thai"]),
    ("@bot how much is a cable?", &["about 12 euros"], &["garden"]),
    ("@bot where is the HDMI cable?", &["blue label"], &["garden"]),
    ("Ana: @bot do they have a garden?", &["They have a garden"], &["projector"]),
    ("Carl > 7: @bot", &["Carl's sister"], &["keeper"]),
    ("/help", &["I read along and say nothing until you tag me"], &["No model"]),
    ("/privacy", &["Nothing leaves the machine"], &["No model"]),
    ("> 32 /why", &["I used these messages"], &["keeper"]),
    ("thanks @bot", &["👍 on"], &["No model"]),
    ("> 5 !", &["message #5 has no button"], &[]),
    ("> 999 @bot", &["there is no message #999"], &[]),
    ("Zoe: I bring the wine on Saturday", &[], &["No model"]),
    ("@bot who brings the wine?", &["I bring the wine on Saturday"], &["keeper"]),
    ("help", &["Your turn"], &["No model"]),
    ("@bot what about the receipt?", &["Keep the receipt"], &["thai"]),
    ("@bot did you see the match?", &["Did you see the match"], &["garden"]),
    ("@bot who saved film night?", &["you saved film night"], &["garden"]),
    (":q", &[], &["No model"]),
    ("@bot still there?", &[], &["No model", "still there"]),
];

/// Everything that the demo prints for these lines.
fn played(lines: &[&str]) -> String {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_chime"))
        .arg("demo")
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the demo starts");
    let mut typed = demo.stdin.take().expect("a way to type");
    typed.write_all(lines.join("\n").as_bytes()).expect("it reads");
    drop(typed);
    let ended = demo.wait_with_output().expect("the demo ends");
    assert!(ended.status.success(), "{:?}", ended.status);
    String::from_utf8(ended.stdout).expect("readable output")
}

#[test]
fn every_question_of_a_session_gets_what_a_member_expects() {
    // A line after each that has one sure effect shows where the reply ends.
    const MARK: &str = "> 0 mark";
    const MARKED: &str = "there is no message #0 to reply to";
    let lines: Vec<&str> = [MARK].into_iter().chain(SESSION.iter().flat_map(|(typed, ..)| [*typed, MARK])).collect();
    let shown = played(&lines);
    let replies: Vec<&str> = shown.split(MARKED).skip(1).collect();
    let mut wrong = Vec::new();
    for (place, (typed, must, must_not)) in SESSION.iter().enumerate() {
        let reply = replies.get(place).copied().unwrap_or_default();
        // What was typed is shown too, and is no answer.
        let spoken = reply.split_once("bot > ").map_or(reply, |(_, spoken)| spoken);
        wrong.extend(
            must.iter().filter(|it| !spoken.contains(**it)).map(|it| format!("{typed}: lacks {it:?}\n{reply}")),
        );
        wrong.extend(
            must_not.iter().filter(|it| spoken.contains(**it)).map(|it| format!("{typed}: has {it:?}\n{reply}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}
