//! Inputs to `chime demo`, line by line, with expected and forbidden parts of each answer.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use chime_core::{Chat, ChatId, ChatKind, JobKind, Timestamp};
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store, chats, jobs};

/// Input, expected parts of the reply, and forbidden parts.
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
    ("/help", &["I read along and stay quiet until you tag me"], &["No model"]),
    ("/privacy", &["No message leaves the machine"], &["No model"]),
    ("> 32 /why", &["I used these messages"], &["keeper"]),
    ("thanks @bot", &["👍 on"], &["No model"]),
    ("> 5 !", &["message #5 has no button"], &[]),
    ("> 999 @bot", &["there is no message #999"], &[]),
    ("> 999", &["there is no message #999"], &[]),
    ("> 5", &["say something behind the number"], &["no message"]),
    ("Zoe: I bring the wine on Saturday", &[], &["No model"]),
    ("@bot who brings the wine?", &["I bring the wine on Saturday"], &["keeper"]),
    ("help", &["Your turn"], &["No model"]),
    ("@bot what about the receipt?", &["Keep the receipt"], &["thai"]),
    ("@bot did you see the match?", &["Did you see the match"], &["garden"]),
    ("@bot what did dina say?", &["Dina: “", "spare cable"], &["Ben: “", "@bot"]),
    ("@bot who saved film night?", &["you saved film night"], &["garden"]),
    (":q", &[], &["No model"]),
    ("@bot still there?", &[], &["No model", "still there"]),
];

/// Returns everything that the demo prints for these lines.
pub fn played(lines: &[&str]) -> String {
    played_with(&[], lines)
}

/// Like [`played`], with `options`.
pub fn played_with(options: &[&str], lines: &[&str]) -> String {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_chime"))
        .arg("demo")
        .args(options)
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
    // After each input, a line with a known effect marks the end of the reply.
    const MARK: &str = "> 0 mark";
    const MARKED: &str = "there is no message #0 to reply to";
    let lines: Vec<&str> = [MARK].into_iter().chain(SESSION.iter().flat_map(|(typed, ..)| [*typed, MARK])).collect();
    let shown = played(&lines);
    let replies: Vec<&str> = shown.split(MARKED).skip(1).collect();
    let mut wrong = Vec::new();
    for (place, (typed, must, must_not)) in SESSION.iter().enumerate() {
        let reply = replies.get(place).copied().unwrap_or_default();
        // The typed line is shown too; it is no answer.
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

/// Numbers of the messages about the restaurant.
const RESTAURANT: [i64; 10] = [1, 5, 7, 10, 11, 22, 24, 26, 29, 30];

/// Returns the numbers of the messages in the focus of each answer.
fn focuses(lines: &[&str]) -> Vec<Vec<i64>> {
    let shown = played_with(&["--json"], lines);
    let answers = shown.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let focus = |answer: serde_json::Value| {
        let window = answer["window"].as_array()?.clone();
        let is_focus = |entry: &&serde_json::Value| entry["part"] == "focus";
        Some(window.iter().filter(is_focus).filter_map(|entry| entry["id"].as_i64()).collect())
    };
    answers.filter_map(focus).collect()
}

#[test]
fn a_demo_with_a_kept_database_answers_again_and_adds_no_message_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("demo.db").display().to_string();
    let first = played_with(&["--database", &database], &["@bot where is the key?"]);
    let second = played_with(&["--database", &database], &["@bot where is the key?"]);
    for shown in [&first, &second] {
        // The demo asks the first question by itself.
        assert_eq!(shown.matches("bot > ").count(), 2, "{shown}");
    }
    assert!(first.contains("> 22 @bot ") && second.contains("> 22 @bot "), "{second}");
    let searched = played_with(&["--database", &database], &["/search key cupboard"]);
    assert!(searched.contains("Found: 2") && !searched.contains("1970"), "{searched}");
}

#[tokio::test]
async fn a_demo_leaves_the_database_of_a_bot_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("chime.db");
    let (store, _) = Store::open(&database, Timestamp::from_secs(1_767_621_720)).expect("a database");
    let chat = Chat { id: ChatId(-1_001_234_567_890), kind: ChatKind::Supergroup, title: None, username: None };
    let kept = store.write(Priority::Answering, move |tx| chats::upsert(tx, &chat).map(drop));
    kept.await.expect("store a chat");
    store.close().await;
    let before = std::fs::read(&database).expect("read the file");
    let refused = Command::new(env!("CARGO_BIN_EXE_chime"))
        .args(["demo", "--database"])
        .arg(&database)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the demo starts");
    let actual = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), actual.contains("is the database of a bot")), (Some(1), true), "{actual}");
    assert_eq!(std::fs::read(&database).expect("read the file"), before);
}

#[test]
fn the_first_tag_of_the_demo_is_about_the_ten_messages_of_the_restaurant() {
    assert_eq!(focuses(&["@bot thoughts?"]), [RESTAURANT]);
    // Two questions typed at once may be answered in either order; a second mention continues the first.
    let both = focuses(&["@bot thoughts?", "@bot and?"]);
    assert_eq!(both.len(), 2);
    for focus in both {
        let earlier: Vec<i64> = focus.into_iter().filter(|id| *id <= 30).collect();
        assert_eq!(earlier, RESTAURANT);
    }
}

#[test]
fn a_question_and_a_reply_in_the_demo_are_about_what_they_name() {
    let focuses = focuses(&["@bot did we sort out the projector sound?", "> 9 @bot"]);
    assert_eq!(focuses.len(), 2);
    for focus in focuses {
        assert!([8, 9, 18].iter().all(|id| focus.contains(id)), "{focus:?}");
        assert!(!focus.iter().any(|id| RESTAURANT.contains(id) || (12..=14).contains(id)), "{focus:?}");
    }
}

/// What the bot says to one line, in a demo of its own.
fn reply_to(line: &str) -> String {
    let shown = played(&[line]);
    let typed = shown.split_once(&format!("You  {line}")).map_or("", |(_, rest)| rest);
    typed.split_once("bot > ").map_or(typed, |(_, spoken)| spoken).to_owned()
}

#[track_caller]
fn check_replies(expected: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (typed, must, must_not) in expected {
        let reply = reply_to(typed);
        if !reply.contains(must) || (!must_not.is_empty() && reply.contains(must_not)) {
            wrong.push(format!("{typed}: wants {must:?}, not {must_not:?}\n{reply}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

#[test]
fn questions_in_other_languages_than_the_chat_find_things() {
    check_replies(&[
        ("@bot ¿quién tiene la llave?", "Under the plant", "thai"),
        ("@bot wo ist der Schlüssel?", "Under the plant", "thai"),
        ("@bot où est la clé ?", "Under the plant", "garden"),
        ("@bot где ключ?", "Under the plant", "thai"),
        ("@bot gdzie jest klucz?", "Under the plant", "thai"),
        ("@bot dov'è la chiave?", "Under the plant", "thai"),
        ("@bot onde está a chave?", "Under the plant", "garden"),
        ("@bot де ключ?", "Under the plant", "thai"),
        ("@bot anahtar nerede?", "Under the plant", "thai"),
        ("@bot wer isst kein Fleisch?", "Carl's sister eats no meat", "projector"),
        ("@bot кто не ест мясо?", "Carl's sister eats no meat", "projector"),
        ("@bot ¿cuándo es la película?", "Half past", "thai"),
        ("@bot wann fängt der Film an?", "Half past", "thai"),
        ("@bot combien coûte un câble ?", "12 euros", "garden"),
        ("@bot wie viele sind wir?", "nine of us", "projector"),
        ("@bot сколько нас?", "nine of us", "projector"),
        ("@bot was ist das Budget pro Person?", "Under 30 a head", "keeper"),
        ("@bot what time do we meet?", "Friday at seven", "keeper"),
        ("@bot wann treffen wir uns?", "Friday at seven", "keeper"),
        ("@bot ¿a qué hora quedamos?", "Friday at seven", "keeper"),
        ("@bot ne zaman buluşuyoruz?", "Friday at seven", "keeper"),
        ("@bot kablo kaç para?", "12 euros", "keeper"),
    ]);
}

#[test]
fn a_question_in_a_language_without_texts_is_answered_from_the_conversation() {
    check_replies(&[("@bot 予算はいくら？", "Sources: ", "since 24"), ("@bot どう思う？", "restaurant", "goalpost")]);
}

#[test]
fn questions_for_a_number_show_it() {
    check_replies(&[
        ("@bot whats the budget per person?", "Under 30 a head", "keeper"),
        ("@bot how many of us are there?", "nine of us", "projector"),
        ("@bot how much can we spend?", "Under 30 a head", "keeper"),
        ("@bot сколько нас будет?", "nine of us", "keeper"),
        ("@bot ¿cuántos somos?", "nine of us", "keeper"),
    ]);
}

#[test]
fn the_last_messages_are_shown_if_a_question_names_their_number() {
    check_replies(&[
        ("@bot summarize the last 10 messages", "Friday at seven", "projector"),
        ("@bot fasse die letzten 10 Nachrichten zusammen", "Friday at seven", "projector"),
    ]);
    let shown = played(&["/memory", "@bot thoughts?", "@bot summarize the last 2 messages"]);
    let reply = shown.split("the last 2 messages").nth(1).expect("it was asked");
    assert!(reply.contains("Friday at seven"), "what was asked of the bot does not count: {reply}");
}

#[test]
fn small_talk_before_a_question_hides_nothing() {
    let shown = played(&["hello", "who are you", "@bot whats the budget per person?"]);
    assert_eq!(shown.matches("stays quiet until it is tagged").count(), 2, "after each: {shown}");
    let reply = shown.split("whats the budget").nth(1).expect("it was asked");
    assert!(reply.contains("Under 30 a head"), "{reply}");
    for question in ["whats the budget per person?", "¿cuánto podemos gastar?"] {
        let shown = played(&[question, &format!("@bot {question}")]);
        let reply = shown.split("bot > ").last().expect("it was asked");
        assert!(reply.contains("Under 30 a head") && !reply.contains("You: "), "{reply}");
    }
    let shown = played(&["hello", "@bot thoughts?"]);
    let reply = shown.rsplit("@bot thoughts?").next().expect("it was asked");
    // The hour at which the demo runs decides how long ago its first messages are, and so which line names the
    // restaurant.
    assert!(reply.contains("restaurant") && !reply.contains("“hello”"), "{reply}");
}

#[test]
fn greetings_and_questions_about_the_bot_get_the_help() {
    let help = "I read along and stay quiet until you tag me";
    check_replies(&[
        ("@bot hello", help, "thai"),
        ("@bot who are you?", help, "thai"),
        ("@bot help", help, "thai"),
        ("@bot hola", "Leo el chat y no digo nada", "thai"),
        ("@bot wer bist du?", "Ich lese mit und bleibe still", "thai"),
        ("@bot ciao", help, "thai"),
        ("@bot was kannst du?", "Ich lese mit und bleibe still", "thai"),
        ("hello", "stays quiet until it is tagged", "thai"),
    ]);
}

#[test]
fn the_books_of_the_demo_are_listed_and_forgotten_without_a_model() {
    let asked = |typed: &str| {
        let shown = played_with(&["--chat", "books"], &[typed]);
        shown.rsplit("bot > ").next().expect("it was asked").to_owned()
    };
    for ask in ["@bot which is the cheapest of these?", "@bot welches davon ist das billigste?"] {
        let reply = asked(ask);
        assert!(reply.contains("1. The Hobbit, J.R.R. Tolkien, 12 EUR"), "{reply}");
    }
    for ask in [
        "@bot how tall is Everest?",
        "@bot what is the cheapest flight from Rome to Lisbon?",
        "@bot did the book arrive?",
        "@bot which one is Ben bringing?",
    ] {
        let reply = asked(ask);
        assert!(!reply.contains("1. The Hobbit"), "{reply}");
    }
    let reply = asked("@bot start over");
    assert!(reply.contains("I started a new list") && !reply.contains("No model"), "{reply}");
}

#[test]
fn whoever_tries_the_demo_may_do_what_the_creator_may() {
    let lines = ["/note the club pays for cables", "/settings", "> 36 ! Strict answers", "/recap daily 18:00"];
    let shown = played(&lines);
    assert!(shown.contains("Answers: strict."), "{shown}");
    assert!(!shown.contains("Only admins can") && !shown.contains("Only admins of"), "{shown}");
    assert!(shown.contains("with the buttons below"), "{shown}");
}

/// The demo in a terminal, to which all of `typed` is sent at once.
#[cfg(target_os = "linux")]
fn pasted(typed: &str) -> String {
    let command = format!("{} demo", env!("CARGO_BIN_EXE_chime"));
    let mut terminal = Command::new("script");
    let mut script = terminal
        .args(["-qec", &command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a terminal by `script` of util-linux");
    let mut stdin = script.stdin.take().expect("a way to type");
    stdin.write_all(typed.as_bytes()).expect("it reads");
    let ended = script.wait_with_output().expect("the demo ends");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

#[tokio::test]
async fn the_demo_ends_at_once_while_summaries_are_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("demo.db");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_chime"))
        .args(["demo", "--json", "--database"])
        .arg(&database)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the demo starts");
    let clock = Clock::system();
    // Recent waits five seconds for more sessions.
    loop {
        if let Ok(store) = Store::open_to_read(&database) {
            let open = store.read(jobs::counts_by_kind).await.unwrap_or_default();
            if open.iter().any(|(kind, due, _)| *kind == JobKind::Recent && *due > 0) {
                break;
            }
        }
        clock.sleep(Duration::from_millis(20)).await;
    }
    let asked = clock.now();
    demo.stdin.take().expect("a way to type").write_all(b"quit\n").expect("it reads");
    demo.wait_with_output().expect("the demo ends");
    let took = clock.now().since(asked);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn nothing_that_is_typed_ahead_is_lost() {
    let shown = pasted("@bot where is the key?\n@bot when is the film?\n@bot who eats no meat?\nquit\n");
    for answer in ["Under the plant. As always” [", "Half past, the room is taken before” [", "keep that in mind” ["]
    {
        assert!(shown.contains(answer), "{answer} is missing in {shown}");
    }
}
