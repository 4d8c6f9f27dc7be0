//! `chime import` of files from old and new exporters.

use std::path::PathBuf;
use std::time::Duration;

use chime_core::{ChatId, ChatKey, EntityKind, Message, MessageId, Rolling, Sender, Timestamp, UserId};
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Setup};
use chime_store::family::OptOutScope;
use chime_store::{Priority, Store, consent, summaries};
use serde_json::{Value, json};

use super::Machine;
use super::archive::{CHAT, EXPORTED, kept, run, with_chat};

const DAY: u64 = 24 * 3600;

async fn machine() -> Machine {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    machine
}

/// Returns the beginning of an export, up to its messages.
fn head(id: impl Into<Value>) -> String {
    format!(r#"{{"name":"Friday table","type":"private_supergroup","id":{},"messages":"#, id.into())
}

fn file(machine: &Machine, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = machine.folder.path().join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("make the folder");
    std::fs::write(&path, content).expect("write the export");
    path.display().to_string()
}

fn ago(secs: u64) -> Timestamp {
    Clock::system().now().minus(Duration::from_secs(secs))
}

fn said(id: i64, author: impl Into<Value>, at: Timestamp, text: &str) -> Value {
    json!({"id": id, "type": "message", "date_unixtime": at.secs().to_string(), "from": "Zoe",
           "from_id": author.into(), "text": text})
}

fn with(mut message: Value, more: Value) -> Value {
    if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
        message.extend(more);
    }
    message
}

fn whole(id: impl Into<Value>, messages: Vec<Value>) -> String {
    format!("{}{}}}", head(id), Value::from(messages))
}

fn authors(all: &[Message]) -> Vec<(i64, bool, &str)> {
    all.iter().map(|one| (one.sender.id.0, one.sender.is_chat, one.text.as_str())).collect()
}

#[tokio::test]
async fn numbers_of_before_june_2021_hold_the_type_of_the_account() {
    const PERSON: i64 = 1 << 32;
    const GROUP: i64 = 2 << 32;
    let machine = machine().await;
    with_chat(&machine, None, Some(UserId(50))).await;
    let now = ago(60);
    let messages = vec![
        said(1, PERSON + 50, now, "not for keeping"),
        said(2, PERSON + 51, now, "by a person"),
        said(3, GROUP + 77, now, "by a channel"),
        said(4, 52, now, "by a bare number"),
        json!({"id": 5, "type": "service", "date_unixtime": now.secs().to_string(), "actor": "Zoe",
               "actor_id": PERSON + 51, "action": "pin_message"}),
    ];
    let path = file(&machine, "result.json", whole(GROUP + EXPORTED, messages));
    let (_, shown) = run(&machine, &["import", &path]).await;
    assert!(shown.contains("Friday table (-1001234567890): 4 imported, 0 known already, 1 without words"), "{shown}");
    let all = kept(&machine, CHAT).await;
    let wanted = [
        (50, false, ""),
        (51, false, "by a person"),
        (-1_000_000_000_077, true, "by a channel"),
        (52, false, "by a bare number"),
        (51, false, ""),
    ];
    assert_eq!(authors(&all), wanted);
}

#[tokio::test]
async fn negative_numbers_are_those_of_the_bot_api() {
    let machine = machine().await;
    let now = ago(60);
    let messages = || {
        vec![
            said(1, 6_000_000_000_i64, now, "by a person"),
            said(2, -1_000_000_000_077_i64, now, "by a channel"),
            said(3, -42, now, "by a group"),
            said(4, "channel-1000000000078", now, "by another channel"),
        ]
    };
    let path = file(&machine, "result.json", whole(CHAT.0, messages()));
    let (_, shown) = run(&machine, &["import", &path]).await;
    assert!(shown.contains("Friday table (-1001234567890): 4 imported"), "{shown}");
    let wanted = [
        (6_000_000_000, false, "by a person"),
        (-1_000_000_000_077, true, "by a channel"),
        (-42, true, "by a group"),
        (-1_000_000_000_078, true, "by another channel"),
    ];
    assert_eq!(authors(&kept(&machine, CHAT).await), wanted);
    let small = whole(-555, messages()).replace("private_supergroup", "private_group");
    let (_, shown) = run(&machine, &["import", &file(&machine, "small.json", small)]).await;
    assert!(shown.contains("Friday table (-555): 4 imported"), "{shown}");
}

#[tokio::test]
async fn an_edit_in_1970_is_none() {
    let machine = machine().await;
    let now = ago(60);
    let local = |secs: i64| chrono::DateTime::from_timestamp(secs, 0).expect("a date").format("%Y-%m-%dT%H:%M:%S");
    let messages = vec![
        with(said(1, "user5", now, "never"), json!({"edited": "1970-01-01T03:00:00"})),
        with(said(2, "user5", now, "never"), json!({"edited": "1969-12-31T19:00:00", "edited_unixtime": "0"})),
        with(said(3, "user5", now, "once"), json!({"edited": local(now.secs() + 30).to_string()})),
    ];
    run(&machine, &["import", &file(&machine, "result.json", whole(EXPORTED, messages))]).await;
    let all = kept(&machine, CHAT).await;
    let edits: Vec<_> = all.iter().map(|one| one.edited_at.is_some()).collect();
    assert_eq!(edits, [false, false, true]);
}

#[tokio::test]
async fn a_byte_order_mark_and_half_an_emoji_are_no_damage() {
    let machine = machine().await;
    let at = ago(60).secs();
    let mut export = b"\xef\xbb\xbf".to_vec();
    export.extend(head(EXPORTED).as_bytes());
    let texts: [&[u8]; 6] = [
        br"a \ud83d half",
        br"a \ude00 half",
        br"whole \ud83d\ude00 and \ud83d\ud83d\ude00",
        br"no \\ud83d escape",
        b"bytes \xed\xa0\xbd of a half",
        "as usual: 😀 한국".as_bytes(),
    ];
    for (text, id) in texts.iter().zip(1..) {
        export.extend(if id == 1 { b"[" } else { b"," });
        let start =
            format!(r#"{{"id":{id},"type":"message","date_unixtime":"{at}","from":"Zoe","from_id":"user5","text":""#);
        export.extend(start.as_bytes());
        export.extend(*text);
        export.extend(b"\"}");
    }
    export.extend(b"]}");
    let (code, shown) = run(&machine, &["import", &file(&machine, "result.json", export)]).await;
    assert_eq!(code, Some(0), "{shown}");
    let all = kept(&machine, CHAT).await;
    let texts: Vec<_> = all.iter().map(|one| one.text.as_str()).collect();
    let wanted = [
        "a \u{fffd} half",
        "a \u{fffd} half",
        "whole 😀 and \u{fffd}😀",
        r"no \ud83d escape",
        "bytes \u{fffd} of a half",
        "as usual: 😀 한국",
    ];
    assert_eq!(texts, wanted);
}

#[tokio::test]
async fn a_folder_stands_for_the_one_export_in_it() {
    let machine = machine().await;
    let folder = |name: &str| machine.folder.path().join(name).display().to_string();
    std::fs::create_dir_all(folder("exports/empty")).expect("make a folder");
    let (code, shown) = run(&machine, &["import", &folder("exports")]).await;
    assert_eq!((code, shown.contains("holds no result.json")), (Some(1), true), "{shown}");
    file(&machine, "exports/page/messages.html", "<html>");
    let (code, shown) = run(&machine, &["import", &folder("exports/page")]).await;
    assert_eq!((code, shown.contains("HTML")), (Some(1), true), "{shown}");
    let export = whole(EXPORTED, vec![said(1, "user5", ago(60), "hello")]);
    file(&machine, "exports/one/result.json", &export);
    for named in ["exports/one", "exports"] {
        let (code, shown) = run(&machine, &["import", &folder(named), "--dry-run"]).await;
        assert_eq!((code, shown.contains("1 would be imported")), (Some(0), true), "{named}: {shown}");
    }
    file(&machine, "exports/two/result.json", &export);
    let (code, shown) = run(&machine, &["import", &folder("exports")]).await;
    let names = [PathBuf::from("one/result.json"), PathBuf::from("two/result.json")];
    assert!(names.iter().all(|name| shown.contains(&name.display().to_string())), "{shown}");
    assert_eq!((code, shown.contains("several exports")), (Some(1), true), "{shown}");
}

#[tokio::test]
async fn messages_may_stand_before_the_chat_that_they_are_of() {
    let machine = machine().await;
    let now = ago(60);
    let late = |id: i64, text: &str| {
        let messages = Value::from(vec![said(1, "user5", now, text)]);
        format!(r#"{{"id":{id},"messages":{messages},"name":"Late {id}","type":"private_supergroup"}}"#)
    };
    let path = file(&machine, "result.json", late(EXPORTED, "hello"));
    let (code, shown) = run(&machine, &["import", &path]).await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Late 1234567890 (-1001234567890): 1 imported"), "{shown}");
    let list = format!(r#"{{"chats":{{"list":[{},{}]}}}}"#, late(771, "first"), late(772, "second"));
    let (code, shown) = run(&machine, &["import", &file(&machine, "all.json", list)]).await;
    assert_eq!(code, Some(0), "{shown}");
    for (id, text) in [(771, "first"), (772, "second")] {
        assert_eq!(kept(&machine, ChatId(-1_000_000_000_000 - id)).await[0].text, text);
    }
}

#[tokio::test]
async fn formatting_may_stand_in_the_parts_alone() {
    let machine = machine().await;
    let parts = json!([{"type": "plain", "text": "see "}, {"type": "text_link", "text": "here", "href": "https://a.example"},
                       {"type": "bold", "text": "!"}]);
    let messages = vec![
        with(said(1, "user5", ago(60), "see here!"), json!({"text_entities": parts})),
        with(said(2, "user5", ago(60), ""), json!({"text_entities": parts})),
        with(said(3, "user5", ago(60), "something else"), json!({"text_entities": parts})),
    ];
    run(&machine, &["import", &file(&machine, "result.json", whole(EXPORTED, messages))]).await;
    let all = kept(&machine, CHAT).await;
    for message in &all[..2] {
        assert_eq!(message.text, "see here!");
        let kinds: Vec<_> = message.entities.iter().map(|entity| (entity.offset, entity.kind.clone())).collect();
        let link = EntityKind::TextLink { url: "https://a.example".to_owned() };
        assert_eq!(kinds, [(4, link), (8, EntityKind::Bold)]);
    }
    assert_eq!((all[2].text.as_str(), all[2].entities.len()), ("something else", 0), "the text comes first");
}

/// Returns the topic and the parent of each message.
fn places(all: &[Message]) -> Vec<(Option<i64>, Option<i64>)> {
    all.iter().map(|one| (one.forum_topic.map(|id| id.0), one.reply_to.map(|id| id.0))).collect()
}

#[tokio::test]
async fn a_forum_exported_from_a_date_on_has_its_topics() {
    let machine = machine().await;
    let now = ago(600);
    let reply = |id: i64, parent: i64| {
        with(said(id, "user5", now, &format!("message {id}")), json!({"reply_to_message_id": parent}))
    };
    // Topics 40 and 41 were created before the export.
    let mut messages: Vec<Value> = (100..112).map(|id| reply(id, 40 + id % 2)).collect();
    messages.extend([reply(112, 100), reply(113, 112), reply(114, 7), said(115, "user5", now, "in General")]);
    run(&machine, &["import", &file(&machine, "result.json", whole(EXPORTED, messages))]).await;
    let places = places(&kept(&machine, CHAT).await);
    assert_eq!(places[..2], [(Some(40), None), (Some(41), None)]);
    let last = [(Some(40), Some(100)), (Some(40), Some(112)), (None, Some(7)), (None, None)];
    assert_eq!(places[12..], last);
}

#[tokio::test]
async fn an_old_message_that_many_reply_to_is_no_topic_of_a_plain_group() {
    let machine = machine().await;
    let messages = (100..160).map(|id| match id % 12 {
        0 => with(said(id, "user5", ago(600), "an answer"), json!({"reply_to_message_id": 40})),
        _ => said(id, "user5", ago(600), "talk"),
    });
    run(&machine, &["import", &file(&machine, "result.json", whole(EXPORTED, messages.collect()))]).await;
    let all = kept(&machine, CHAT).await;
    assert!(all.iter().all(|one| one.forum_topic.is_none()));
    assert_eq!(all.iter().filter(|one| one.reply_to == Some(MessageId(40))).count(), 5);
}

/// Runs the import dry and for real, and checks that both report the same.
async fn same_twice(machine: &Machine, path: &str) -> String {
    let (code, would) = run(machine, &["import", path, "--dry-run"]).await;
    let (also, did) = run(machine, &["import", path]).await;
    assert_eq!((code, would.replace("would be imported", "imported")), (also, did.clone()));
    did
}

#[tokio::test]
async fn a_dry_run_says_what_the_run_says() {
    let machine = machine().await;
    let (store, _) = machine.store();
    let out = store.write(Priority::Answering, |tx| {
        consent::opt_out(tx, OptOutScope::EveryChat, &Sender::person(UserId(50), "Yan"), Clock::system().now())
            .map(drop)
    });
    out.await.expect("opt out everywhere");
    store.close().await;
    let now = ago(3600);
    let first = vec![
        said(1, "user50", now, "not for keeping"),
        said(2, "user51", now, "kept"),
        said(2, "user51", now, "kept"),
        with(said(3, "user51", now, "of another"), json!({"forwarded_from": "Yan", "forwarded_from_id": "user50"})),
        with(said(6, "user51", now, "of a hidden account"), json!({"forwarded_from": "Yan"})),
        json!({"id": 4, "type": "message", "text": "of no date"}),
    ];
    let shown = same_twice(&machine, &file(&machine, "first.json", whole(EXPORTED, first))).await;
    assert!(shown.contains("1 imported, 1 known already, 3 without words"), "{shown}");
    assert!(shown.contains("1 could not be read"), "{shown}");
    let edited = json!({"edited_unixtime": ago(60).secs().to_string()});
    let second = vec![
        with(said(2, "user51", now, "kept, and edited"), edited),
        said(3, "user51", now, "of another"),
        said(5, "user51", now, "new"),
    ];
    let shown = same_twice(&machine, &file(&machine, "second.json", whole(EXPORTED, second))).await;
    assert!(shown.contains("2 imported, 1 known already"), "{shown}");
}

#[tokio::test]
async fn a_damaged_file_is_told_of_in_both_with_the_place_and_what_could_be_read() {
    let machine = machine().await;
    let lines: Vec<String> = (1..=40).map(|id| said(id, "user5", ago(60), "hello").to_string()).collect();
    let whole = format!("{}[\n{}\n]}}", head(EXPORTED), lines.join(",\n"));
    let broken = whole.replacen(r#""id":31,"#, r#""id":31;"#, 1);
    let shown = same_twice(&machine, &file(&machine, "broken.json", &broken)).await;
    assert!(shown.contains("30 imported") && shown.contains("at line 32, column"), "{shown}");
    let shown = same_twice(&machine, &file(&machine, "cut.json", &whole[..whole.len() / 2])).await;
    assert!(shown.contains("0 imported") && shown.contains("breaks off or is damaged at line 2"), "{shown}");
    // Without a chat in the file nothing can be imported.
    let nameless = format!(r#"{{"messages":[{},"#, lines.join(",\n"));
    let shown = same_twice(&machine, &file(&machine, "nameless.json", nameless)).await;
    assert!(shown.contains("breaks off or is damaged at line 40"), "{shown}");
    assert_eq!(kept(&machine, CHAT).await.len(), 30);
}

#[tokio::test]
async fn an_import_is_one_line_of_the_log() {
    let mut machine = Machine::new(Setup::default()).await;
    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table"));
    machine.set("ALLOWED_CHATS", &chat.0.to_string()).set("OPENAI_BASE_URL", "").set("MODEL", "");
    let messages = (0..60_i64).map(|number| {
        // A talk every two days.
        let at = ago(DAY * (40 - 2 * (number as u64 / 5)) - 60 * (number as u64 % 5));
        said(number + 1, "user5", at, &format!("the boat number {number} leaves for the lake at {number} o'clock"))
    });
    let path = file(&machine, "result.json", whole(-1_000_000_000_000 - chat.0, messages.collect()));
    let (code, shown) = run(&machine, &["import", &path]).await;
    assert_eq!(code, Some(0), "{shown}");
    let mut daemon = machine.start();
    machine.telegram.next_sent(machine.telegram.cursor()).await;
    let clock = Clock::system();
    let folded = async || {
        let store = Store::open_to_read(&machine.database()).expect("open the database");
        let history = store.read(|conn| summaries::rolling(conn, ChatKey(1), Rolling::History)).await;
        history.expect("read History").is_some()
    };
    for _ in 0..400 {
        if folded().await {
            break;
        }
        clock.sleep(Duration::from_millis(50)).await;
    }
    assert!(folded().await, "History is not folded: {}", daemon.log());
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
    let log = daemon.log();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!((lines("SESSION_CLOSED"), lines("MINI_SUMMARY_BUILT")), (0, 0), "{log}");
    assert_eq!(lines("imported 60 older messages"), 1, "{log}");
    // For a start, a stop, the import and the summaries of the whole history.
    assert!(lines(" INFO ") < 12, "{log}");
}
