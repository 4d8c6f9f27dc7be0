//! `chime import` and `chime export`.

use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

use chime_core::{
    Chat, ChatId, ChatKey, ChatKind, EntityKind, Kind, Message, MessageId, Migration, Rolling, Sender, Timestamp,
    UserId, grouped,
};
use chime_runtime::clock::Clock;
use chime_sandbox::{ChatMemberStatus, NewChat, Post, Setup};
use chime_store::family::OptOutScope;
use chime_store::{Priority, Store, chat_migration, chats, consent, messages, summaries};
use chime_testkit::{Export, Reply};
use serde_json::{Value, json};

use super::Machine;

/// The chat's number in exports; the bot knows it as [`CHAT`].
pub(super) const EXPORTED: i64 = 1_234_567_890;
pub(super) const CHAT: ChatId = ChatId(-1_001_234_567_890);

fn export(messages: i64) -> Export {
    Export { chat: EXPORTED, kind: "private_supergroup", messages, until: Clock::system().now() }
}

fn write(machine: &Machine, name: &str, export: &Export) -> String {
    let path = machine.folder.path().join(name);
    let file = File::create(&path).expect("create the export");
    export.write(&mut BufWriter::new(file)).expect("write the export");
    path.display().to_string()
}

pub(super) async fn run(machine: &Machine, arguments: &[&str]) -> (Option<i32>, String) {
    let output = machine.run(arguments).await;
    let actual = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&actual).into_owned())
}

pub(super) async fn kept(machine: &Machine, chat: ChatId) -> Vec<Message> {
    let store = Store::open_to_read(&machine.database()).expect("open the database");
    let all = store.read(move |conn| match chats::find(conn, chat)? {
        Some(row) => messages::all_of(conn, row.key),
        None => Ok(Vec::new()),
    });
    all.await.expect("read the messages").into_iter().map(|stored| stored.message).collect()
}

pub(super) async fn with_chat(machine: &Machine, said: Option<Message>, out: Option<UserId>) {
    let (store, _) = machine.store();
    let title = Some("Friday table".to_owned());
    let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title, username: None };
    let prepared = store.write(Priority::Answering, move |tx| {
        let row = chats::upsert(tx, &chat)?;
        if let Some(said) = &said {
            messages::take_in(tx, &row, said)?;
        }
        if let Some(user) = out {
            consent::opt_out(
                tx,
                OptOutScope::Chat(row.key),
                &chime_core::Sender::person(user, ""),
                Clock::system().now(),
            )?;
        }
        Ok(())
    });
    prepared.await.expect("prepare the chat");
    store.close().await;
}

#[tokio::test]
async fn a_history_is_imported_once_and_told_of() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let file = write(&machine, "result.json", &export(700));
    with_chat(&machine, None, None).await;
    let (code, actual) = run(&machine, &["import", &file, "--dry-run"]).await;
    assert_eq!((code, actual.contains("700 would be imported, 0 known already")), (Some(0), true), "{actual}");
    assert_eq!(kept(&machine, CHAT).await.len(), 0, "a dry run writes nothing");
    let beside = std::fs::read_dir(machine.database().parent().expect("a folder")).expect("the folder of the database");
    assert!(!beside.flatten().any(|file| file.file_name().to_string_lossy().contains("copy")), "it leaves no copy");

    let (code, actual) = run(&machine, &["import", &file]).await;
    assert_eq!((code, actual.contains("Friday table (-1001234567890): 700 imported")), (Some(0), true), "{actual}");
    let (code, actual) = run(&machine, &["import", &file]).await;
    assert_eq!((code, actual.contains("0 imported, 700 known already")), (Some(0), true), "{actual}");

    let all = kept(&machine, CHAT).await;
    assert_eq!(all.len(), 700);
    let shown = |id: i64| all.iter().find(|message| message.id == MessageId(id)).expect("imported").rendered();
    assert_eq!(shown(32), "[photo] look at this");
    assert_eq!(shown(2), "[voice 0:12]");
    assert_eq!(shown(4), "[sticker] 🙂");
    assert_eq!(shown(6), "[poll] Where to?: lake / sea");
    assert_eq!(shown(8), "[document] report.pdf");
    assert_eq!(shown(10), "[added a member]");
    assert_eq!(shown(12), "[pinned a message]");
    assert_eq!(shown(18), "[location] Town hall");
    assert_eq!(shown(20), "[contact] Ann, 0");
    assert_eq!(shown(22), "see here (https://example.org) please");
    assert_eq!(shown(26), "[video 1:01 video.mp4] our trip");
    let forward = all.iter().find(|message| message.id == MessageId(14)).expect("a forward");
    assert_eq!(forward.forward_origin.as_deref(), Some("Zoe"));
    assert_eq!(forward.borrowed.and_then(|borrowed| borrowed.author), Some(UserId(6000)));
    let reply = all.iter().find(|message| message.id == MessageId(9)).expect("a reply");
    assert_eq!(reply.reply_to, Some(MessageId(6)));

    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table"));
    assert_ne!(chat, CHAT, "the embedded Telegram has ids of its own");
    let exported = machine.run(&["export", "-1001234567890"]).await;
    let parsed: Value = serde_json::from_slice(&exported.stdout).expect("JSON");
    assert_eq!(parsed["messages"].as_array().map(Vec::len), Some(700));
    // Seven members, and an admin who writes as the chat.
    assert_eq!(parsed["members"].as_array().map(Vec::len), Some(8));
    assert_eq!(run(&machine, &["export", "-42"]).await.0, Some(1));
}

#[tokio::test]
async fn a_chat_is_told_and_answers_from_what_was_imported() {
    let mut machine = Machine::new(Setup::default()).await;
    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table"));
    machine.set("ALLOWED_CHATS", &chat.0.to_string());
    // The notice counts what several imports brought before the daemon ran.
    for messages in [15, 40] {
        let export = Export { chat: -1_000_000_000_000 - chat.0, ..export(messages) };
        let file = write(&machine, "result.json", &export);
        assert_eq!(run(&machine, &["import", &file]).await.0, Some(0));
    }
    let mut daemon = machine.start();
    let (actual, cursor) = machine.telegram.next_sent(machine.telegram.cursor()).await;
    assert!(actual.text.contains("imported 40 older messages"), "{}", actual.text);
    machine.model.script([Reply::text("It leaves for the lake.")]);
    let ana = machine.telegram.add_member(chat, "Ana");
    machine.telegram.say(chat, Post::new(ana, "@bot where does the boat go?", Clock::system().now()));
    machine.telegram.next_sent(cursor).await;
    let prompt = machine.model.requests().last().map(ToString::to_string).unwrap_or_default();
    assert!(prompt.contains("leaves for the lake"), "{prompt}");
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
}

#[tokio::test]
async fn who_objects_is_a_stub_and_what_the_bot_heard_itself_stays() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let export = export(30);
    let mut heard = chime_core::testkit::transcript("10:00 ann#3 as the bot heard it").remove(0).message;
    heard.chat = CHAT;
    heard.sent_at = Clock::system().now();
    with_chat(&machine, Some(heard), Some(UserId(5005))).await;
    let file = write(&machine, "result.json", &export);
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains("4 without words"), "{actual}");
    let all = kept(&machine, CHAT).await;
    assert_eq!(all.len(), 30);
    let text = |id: i64| all.iter().find(|message| message.id == MessageId(id)).map(|message| message.text.as_str());
    assert_eq!(text(3), Some("as the bot heard it"));
    assert_eq!(text(5), Some(""), "a message of who opted out");
}

#[tokio::test]
async fn a_broken_or_foreign_file_is_told_of_and_loses_nothing() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let export = export(1_200);
    let file = write(&machine, "foreign.json", &export);
    std::fs::write(&file, "{\"hello\": [1, 2]}").expect("write something else");
    assert_eq!(run(&machine, &["import", &file]).await.0, Some(1));
    assert!(!machine.database().exists(), "a foreign file creates no database");
    let file = write(&machine, "result.json", &export);
    let (code, actual) = run(&machine, &["import", &file, "--dry-run"]).await;
    assert_eq!((code, actual.contains("1\u{202f}200 would be imported")), (Some(0), true), "{actual}");
    assert!(!machine.database().exists(), "nor does a dry run");
    let whole = std::fs::read(&file).expect("read the export");
    std::fs::write(&file, &whole[..whole.len() / 2]).expect("cut it");
    let (code, actual) = run(&machine, &["import", &file]).await;
    assert_eq!((code, actual.contains("breaks off or is damaged at line")), (Some(1), true), "{actual}");
    let before = kept(&machine, CHAT).await.len();
    assert!((400..900).contains(&before), "{before} were kept");
    std::fs::write(&file, &whole).expect("mend it");
    assert_eq!(run(&machine, &["import", &file]).await.0, Some(0));
    assert_eq!(kept(&machine, CHAT).await.len(), 1_200, "it goes on where it was cut");

    for foreign in ["{\"hello\": [1, 2]}", "no JSON at all", "[]", ""] {
        std::fs::write(&file, foreign).expect("write something else");
        let (code, actual) = run(&machine, &["import", &file]).await;
        assert_eq!((code, actual.contains("no Telegram Desktop export")), (Some(1), true), "{foreign}: {actual}");
    }
    assert_eq!(run(&machine, &["import", "nowhere.json"]).await.0, Some(1));
}

#[tokio::test]
async fn all_chats_at_once_topics_and_chats_that_are_none_of_the_bots() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "-1000000000777,-555");
    let now = Clock::system().now().minus(Duration::from_secs(60)).secs().to_string();
    let message = |id: i64, more: &str| {
        format!(
            r#"{{"id":{id},"type":"message","date_unixtime":"{now}","from":"Ann","from_id":"user5","text":"hello {id}"{more}}}"#
        )
    };
    let forum = [
        format!(
            r#"{{"id":10,"type":"service","date_unixtime":"{now}","actor":"Ann","actor_id":"user5","action":"topic_created","title":"Boats"}}"#
        ),
        message(11, r#","reply_to_message_id":10"#),
        message(12, r#","reply_to_message_id":11"#),
        message(13, ""),
        r#"{"id":14,"type":"message","text":"of no date"}"#.to_owned(),
    ];
    let file = machine.folder.path().join("result.json");
    let list = format!(
        r#"{{"about":"x","chats":{{"about":"y","list":[
            {{"name":"Forum","type":"public_supergroup","id":777,"messages":[{}]}},
            {{"name":"Small","type":"private_group","id":555,"messages":[{}]}},
            {{"name":"Bob","type":"personal_chat","id":9,"messages":[{}]}},
            {{"name":"Strangers","type":"private_supergroup","id":888,"messages":[{}]}}]}}}}"#,
        forum.join(","),
        message(1, ""),
        message(1, ""),
        message(1, "")
    );
    std::fs::write(&file, list).expect("write the export");
    let (code, actual) = run(&machine, &["import", &file.display().to_string()]).await;
    assert_eq!(code, Some(0), "{actual}");
    assert!(actual.contains("Forum (-1000000000777): 4 imported, 0 known already, 1 could not be read"), "{actual}");
    assert!(actual.contains("Small (-555): 1 imported"), "{actual}");
    assert!(actual.contains("Bob: left out, it is between two people"), "{actual}");
    assert!(actual.contains("Strangers: left out, it is not allowed: add -1000000000888 to ALLOWED_CHATS"), "{actual}");
    let all = kept(&machine, ChatId(-1_000_000_000_777)).await;
    let place = |id: i64| {
        let found = all.iter().find(|message| message.id == MessageId(id)).expect("imported");
        (found.forum_topic.map(|topic| topic.0), found.reply_to.map(|parent| parent.0))
    };
    assert_eq!([place(11), place(12), place(13)], [(Some(10), None), (Some(10), Some(11)), (None, None)]);
    assert!(all.iter().any(|message| message.kind == Kind::Service));
}

/// Builds the export of a supergroup from lines with number, author, text and other fields.
fn write_supergroup(machine: &Machine, at: Timestamp, lines: &[(i64, Value, &str, Value)]) -> String {
    let messages = lines.iter().map(|(id, author, text, more)| {
        let mut message = json!({"id": id, "type": "message", "date_unixtime": at.secs().to_string(), "from": "Zoe",
                                 "from_id": author, "text": text});
        if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more.clone()) {
            message.extend(more);
        }
        message
    });
    let messages: Vec<Value> = messages.collect();
    // The fields of the chat come before the messages.
    let export = format!(
        r#"{{"name":"Friday table","type":"private_supergroup","id":{EXPORTED},"messages":{}}}"#,
        Value::from(messages)
    );
    let path = machine.folder.path().join("supergroup.json");
    std::fs::write(&path, export).expect("write the export");
    path.display().to_string()
}

#[tokio::test]
async fn an_author_whom_an_old_export_numbers_alone_may_object() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    with_chat(&machine, None, Some(UserId(50))).await;
    let now = Clock::system().now();
    let lines = [(1, json!(50), "not for keeping", json!({})), (2, json!(51), "for keeping", json!({}))];
    let file = write_supergroup(&machine, now, &lines);
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains("1 imported") && actual.contains("1 without words"), "{actual}");
    let all = kept(&machine, CHAT).await;
    let said: Vec<_> = all.iter().map(|one| (one.sender.id.0, one.sender.is_chat, one.text.as_str())).collect();
    assert_eq!(said, [(50, false, ""), (51, false, "for keeping")]);
}

/// Returns the number of a message from before the migration, as Telegram Desktop writes it.
const fn moved(id: i64) -> i64 {
    id - 1_000_000_000
}

#[tokio::test]
async fn messages_from_before_a_migration_are_those_of_the_former_group() {
    const FORMER: ChatId = ChatId(-4001);
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let now = Clock::system().now();
    let earlier = now.minus(Duration::from_secs(60));
    let (store, _) = machine.store();
    let prepared = store.write(Priority::Answering, move |tx| {
        let chat = Chat { id: FORMER, kind: ChatKind::Group, title: Some("Friday table".to_owned()), username: None };
        let row = chats::upsert(tx, &chat)?;
        for (id, author, at) in [(5, 50, now), (6, 51, now), (17, 52, earlier)] {
            let mut heard = Message::new(FORMER, MessageId(id), Sender::person(UserId(author), "Zoe"), at);
            heard.text = format!("heard as {id}");
            messages::take_in(tx, &row, &heard)?;
        }
        if let Some(forgotten) = messages::find_any(tx, FORMER, MessageId(6))? {
            messages::blank(tx, &forgotten)?;
        }
        chat_migration::migrate(tx, Migration { from: FORMER, to: CHAT })
    });
    prepared.await.expect("prepare the chat");
    store.close().await;
    let seconds_earlier = json!({"date_unixtime": earlier.secs().to_string()});
    let later = now.minus(Duration::from_secs(30)).secs().to_string();
    let lines = [
        (moved(5), json!("user50"), "heard as 5", json!({})),
        (moved(6), json!("user51"), "forgotten", json!({})),
        // The exporting account had other numbers for these messages.
        (moved(7), json!("user52"), "heard as 17", seconds_earlier),
        (moved(8), json!("user50"), "not heard", json!({"reply_to_message_id": moved(5), "date_unixtime": later})),
        (9, json!("user50"), "in the supergroup", json!({})),
    ];
    let file = write_supergroup(&machine, now, &lines);
    let (_, actual) = run(&machine, &["import", &file, "--dry-run"]).await;
    assert!(actual.contains("2 would be imported, 3 known already"), "{actual}");
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains("2 imported, 3 known already"), "{actual}");
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains("0 imported, 5 known already"), "{actual}");
    let all = kept(&machine, CHAT).await;
    let mut kept: Vec<_> = all.iter().map(|one| (one.chat.0, one.id.0, one.text.as_str())).collect();
    kept.sort_unstable();
    assert_eq!(
        kept,
        [
            (CHAT.0, 9, "in the supergroup"),
            (FORMER.0, 5, "heard as 5"),
            (FORMER.0, 6, ""),
            (FORMER.0, 8, "not heard"),
            (FORMER.0, 17, "heard as 17")
        ]
    );
    let reply = all.iter().find(|one| one.id == MessageId(8)).expect("imported");
    assert_eq!(reply.reply_to, Some(MessageId(5)));
}

#[tokio::test]
async fn a_message_from_before_an_unknown_migration_is_kept_without_a_link() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let lines = [(moved(5), json!("user50"), "before", json!({})), (6, json!("user50"), "after", json!({}))];
    let file = write_supergroup(&machine, Clock::system().now(), &lines);
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains("2 imported"), "{actual}");
    let exported = machine.run(&["export", &CHAT.to_string()]).await;
    let parsed: Value = serde_json::from_slice(&exported.stdout).expect("JSON");
    let links: Vec<_> = [0, 1].into_iter().map(|at| parsed["messages"][at]["link"].as_str()).collect();
    assert_eq!(links, [None, Some("https://t.me/c/1234567890/6")]);
}

/// Waits until the other process has written `enough` messages.
async fn until_written(machine: &Machine, enough: usize) {
    let clock = Clock::system();
    for _ in 0..2_000 {
        if machine.database().exists()
            && Store::open_to_read(&machine.database()).is_ok()
            && kept(machine, CHAT).await.len() >= enough
        {
            return;
        }
        clock.sleep(Duration::from_millis(5)).await;
    }
    panic!("nothing is written");
}

#[tokio::test]
async fn an_import_that_is_killed_half_way_is_gone_on_with_and_a_second_run_adds_nothing() {
    const MESSAGES: usize = 6_000;
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*");
    let file = write(&machine, "result.json", &export(MESSAGES as i64));
    let mut first = machine.command(&["import", &file]).spawn().expect("start the import");
    until_written(&machine, 500).await;
    first.kill().expect("kill it");
    first.wait().expect("it is dead");
    let half = kept(&machine, CHAT).await.len();
    assert!((500..MESSAGES).contains(&half), "{half} were written");
    let (code, actual) = run(&machine, &["import", &file]).await;
    assert_eq!(code, Some(0), "{actual}");
    let rest = grouped(u64::try_from(MESSAGES - half).expect("a count"));
    assert!(actual.contains(&format!("{rest} imported")), "{actual}");
    assert_eq!(kept(&machine, CHAT).await.len(), MESSAGES);
    let (_, actual) = run(&machine, &["import", &file]).await;
    assert!(actual.contains(" 0 imported"), "{actual}");
    assert_eq!(kept(&machine, CHAT).await.len(), MESSAGES);
}

#[tokio::test]
async fn what_was_decided_before_the_bot_came_is_answered_with_a_link() {
    let mut machine = Machine::new(Setup::default()).await;
    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table").with_bot(ChatMemberStatus::Member));
    machine.set("ALLOWED_CHATS", &chat.0.to_string());
    let begin = Clock::system().now().minus(Duration::from_secs(60 * 24 * 3600)).secs();
    let said = [
        ("Ana", "shall we take the red tent or the green tent to the lake this summer?"),
        ("Bob", "the green tent has a hole near the door since the storm in May"),
        ("Cat", "then we decided: the red tent comes along, and Ana packs 3 ropes for it"),
        ("Ana", "agreed, I'll bring the red tent and the ropes on Friday at 18:30"),
    ];
    let lines = (0_i64..).zip(said).map(|(number, (name, text))| {
        let (id, at) = (number + 41, begin + number * 60);
        serde_json::json!({"id": id, "type": "message", "date_unixtime": at.to_string(), "from": name,
            "from_id": format!("user{}", 900 + name.len() as i64 + i64::from(name.as_bytes()[0])), "text": text})
        .to_string()
    });
    let list = format!(
        r#"{{"name":"Friday table","type":"private_supergroup","id":{},"messages":[{}]}}"#,
        -1_000_000_000_000 - chat.0,
        lines.collect::<Vec<_>>().join(",")
    );
    let file = machine.folder.path().join("result.json");
    std::fs::write(&file, list).expect("write the export");
    let (code, actual) = run(&machine, &["import", &file.display().to_string()]).await;
    assert_eq!(code, Some(0), "{actual}");
    let mut daemon = machine.start();
    let (actual, cursor) = machine.telegram.next_sent(machine.telegram.cursor()).await;
    assert!(actual.text.contains("imported 4 older messages"), "{}", actual.text);
    let clock = Clock::system();
    let mut folded = false;
    for _ in 0..400 {
        let store = Store::open_to_read(&machine.database()).expect("open the database");
        let history = store.read(|conn| summaries::rolling(conn, ChatKey(1), Rolling::History)).await;
        folded = history.expect("read History").is_some();
        if folded {
            break;
        }
        clock.sleep(Duration::from_millis(50)).await;
    }
    assert!(folded, "History is not folded: {}", daemon.log());
    machine.model.script([Reply::text("The red tent [source: s3].")]);
    let ana = machine.telegram.add_member(chat, "Ana");
    machine.telegram.say(chat, Post::new(ana, "@bot what did we decide about the tent?", clock.now()));
    let (answer, _) = machine.telegram.next_sent(cursor).await;
    let prompt = machine.model.requests().last().map(ToString::to_string).unwrap_or_default();
    assert!(prompt.contains("What this chat talked about before that:") && prompt.contains("[s3 · "), "{prompt}");
    let leads_there = |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with("/43"));
    assert!(answer.entities.iter().any(|entity| leads_there(&entity.kind)), "{:?}", answer.entities);
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
}
