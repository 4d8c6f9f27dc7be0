//! The daemon as a separate process, killed at the worst moments: nothing is lost, and each question is answered once,
//! except where nobody can know whether the answer was sent.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chime_core::embed::Embedder;
use chime_core::testkit::transcript;
use chime_core::{Chat, ChatId, ChatKind, ForumTopicId, MessageId};
use chime_memory::recall::{VectorIndexer, VectorSource};
use chime_sandbox::NewChat;
use chime_sandbox::faults::{FOREVER, Fault};
use chime_store::{Priority, Store, Writer, chats, embedding_spaces, jobs, messages};
use chime_testkit::{ModelServer, Reply};
use chime_world::World;
use rusqlite::Connection;

use crate::process::Process;

/// Longest time from SIGTERM to the exit.
const STOPS_WITHIN: Duration = Duration::from_secs(10);
/// Longest time until a refused start exits.
const REFUSES_WITHIN: Duration = Duration::from_secs(20);

#[tokio::test]
async fn killed_before_the_commit() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        let first = Process::start(w).await;
        let lock = Connection::open(w.database()).expect("open the database");
        lock.execute_batch("BEGIN IMMEDIATE").expect("take the write lock");
        let tag = w.say("ann", "@bot how many?");
        w.telegram.all_handed_out().await;
        first.kill();
        drop(lock);
        assert_eq!(w.telegram.pending_updates(), 1, "nothing was confirmed that was not committed");
        let _second = Process::start(w).await;
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn killed_after_the_commit() {
    World::without_daemon(async |w| {
        let good = w.environment()["OPENAI_BASE_URL"].clone();
        let deaf = ModelServer::start(w.clock.clone()).await.expect("a second model");
        deaf.always(Reply::Hang);
        w.set("OPENAI_BASE_URL", &deaf.base_url());
        let first = Process::start(w).await;
        let plain = w.say("ben", "Nine of us will come");
        let tag = w.say("ann", "@bot how many?");
        w.telegram.all_confirmed().await;
        first.kill();
        w.set("OPENAI_BASE_URL", &good);
        w.model.script(["Nine."]);
        let _second = Process::start(w).await;
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
        assert!(w.stored(w.chat, plain).await.is_some() && w.stored(w.chat, tag).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn killed_while_the_model_thinks() {
    World::without_daemon(async |w| {
        w.model.script([Reply::Hang, Reply::text("Nine.")]);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.prompt(1).await;
        first.kill();
        let _second = Process::start(w).await;
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
    })
    .await;
}

/// A question that kills the process at each attempt ends in an apology too.
#[tokio::test]
async fn killed_again_and_again_while_the_model_thinks() {
    World::without_daemon(async |w| {
        w.model.script([Reply::Hang, Reply::Hang, Reply::Hang]);
        let mut process = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        for attempt in 1..=3 {
            w.prompt(attempt).await;
            process.kill();
            process = Process::start(w).await;
        }
        assert!(w.answer_to(tag).await.text.starts_with("I could not get an answer from the model just now."));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn killed_between_the_send_and_its_record() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        w.telegram.fault("sendMessage", Fault::HangAfter, 2);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.answer_to(tag).await;
        first.kill();
        let second = Process::start(w).await;
        assert_eq!(w.words_to(tag).await, "Nine.", "it may have been lost, so it comes once more");
        second.kill();
        let _third = Process::start(w).await;
        w.settled().await;
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 2, "and never a third time");
    })
    .await;
}

#[tokio::test]
async fn killed_between_the_parts_of_an_answer() {
    World::without_daemon(async |w| {
        let paragraph = |n: usize| format!("Point {n} of many: {}", "they talk and talk. ".repeat(10).trim());
        let long = (1..=50).map(paragraph).collect::<Vec<_>>().join("\n\n");
        w.model.script([long.as_str()]);
        w.telegram.fault("sendMessage", Fault::Delay(Duration::ZERO), 1);
        w.telegram.fault("sendMessage", Fault::Hang, 1);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot everything, please");
        let mut said = w.answer_to(tag).await.text;
        w.telegram.called("sendMessage", 2).await;
        first.kill();
        let _second = Process::start(w).await;
        while !said.contains("Point 50 ") {
            said.push_str(&w.answer_to(tag).await.text);
        }
        w.settled().await;
        let missing: Vec<usize> =
            (1..=50).filter(|n| said.matches(&format!("Point {n} of many")).count() != 1).collect();
        assert!(missing.is_empty(), "points that are not there exactly once: {missing:?}");
    })
    .await;
}

/// Kills after every few sends, at arbitrary moments. No send is interrupted twice, since afterwards nobody could
/// repeat it without risking a third copy.
#[tokio::test]
async fn killed_at_any_moment_every_question_is_answered() {
    const ROUNDS: usize = 6;
    World::without_daemon(async |w| {
        let chats =
            [w.chat, w.telegram.add_chat(NewChat::supergroup("Second")), w.telegram.add_chat(NewChat::group("Third"))];
        w.model.always("Nine.");
        let mut asked: Vec<(ChatId, MessageId)> = Vec::new();
        for round in 0..ROUNDS {
            let process = Process::start(w).await;
            w.settled().await;
            let before = w.telegram.calls().iter().filter(|call| call.is("sendMessage")).count();
            for chat in chats {
                asked.push((chat, w.say_in(chat, "ann", &format!("@bot round {round}?"))));
                asked.push((chat, w.say_in(chat, "ben", &format!("@bot round {round} too?"))));
            }
            w.telegram.called("sendMessage", before + round % 4).await;
            process.kill();
        }
        let _last = Process::start(w).await;
        w.settled().await;
        w.ignore_what_was_sent();
        let mut answers: BTreeMap<(ChatId, MessageId), usize> = BTreeMap::new();
        for chat in chats {
            for sent in w.telegram.sent_by_bot(chat) {
                *answers.entry((chat, sent.reply_to.expect("a reply"))).or_default() += 1;
            }
        }
        for trigger in &asked {
            let times = answers.get(trigger).copied().unwrap_or(0);
            assert!((1..=2).contains(&times), "{trigger:?} was answered {times} times: {answers:?}");
        }
        assert_eq!(answers.len(), asked.len(), "nothing else was answered");
    })
    .await;
}

#[tokio::test]
async fn a_stop_with_a_hung_model_is_soon_and_keeps_the_job() {
    World::without_daemon(async |w| {
        w.model.script([Reply::Hang, Reply::text("Nine.")]);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.prompt(1).await;
        first.terminate();
        let (code, log) = first.ended(STOPS_WITHIN).await;
        assert_eq!(code, 0, "{log}");
        assert!(log.contains("1 jobs stay for the next start"), "{log}");
        let _second = Process::start(w).await;
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_stop_lets_an_answer_that_is_nearly_there_go_out() {
    World::without_daemon(async |w| {
        w.model.script([Reply::Slow(Duration::from_millis(400), "Nine.".to_owned())]);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.prompt(1).await;
        first.terminate();
        let (code, log) = first.ended(STOPS_WITHIN).await;
        assert_eq!(code, 0, "{log}");
        let _second = Process::start(w).await;
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
        assert_eq!(w.model.requests().len(), 1, "the model was not asked again");
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_idle_daemon_stops_at_once() {
    World::without_daemon(async |w| {
        w.set("POLL_TIMEOUT", "50s");
        let process = Process::start(w).await;
        w.telegram.called("getUpdates", 1).await;
        process.terminate();
        assert_eq!(process.ended(Duration::from_secs(5)).await.0, 0);
    })
    .await;
}

#[tokio::test]
async fn a_start_without_telegram_waits_for_it_and_can_be_stopped() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        w.telegram.fault("getMe", Fault::DropBefore, 2);
        let tag = w.say("ann", "@bot how many?");
        let mut process = Process::start(w).await;
        process.logged_times("Telegram cannot be reached, trying again", 2).await;
        w.answer_to(tag).await;
        w.settled().await;
        process.kill();

        w.telegram.fault("getMe", Fault::Hang, FOREVER);
        let process = Process::begin(w);
        // Two failed attempts, the successful one, and this one.
        w.telegram.called("getMe", 4).await;
        process.terminate();
        let (code, log) = process.ended(STOPS_WITHIN).await;
        assert_eq!(code, 0, "{log}");
    })
    .await;
}

#[tokio::test]
async fn a_second_instance_on_the_same_database_refuses() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        let _first = Process::start(w).await;
        let (code, log) = Process::begin(w).ended(REFUSES_WITHIN).await;
        assert_eq!(code, 75, "{log}");
        assert!(log.contains("another chime already works with"), "{log}");
        let tag = w.say("ann", "@bot how many?");
        w.answer_to(tag).await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_token_that_is_refused_ends_the_daemon() {
    const UNAUTHORIZED: &str = r#"{"ok":false,"error_code":401,"description":"Unauthorized"}"#;
    World::without_daemon(async |w| {
        let running = Process::start(w).await;
        w.telegram.called("getUpdates", 1).await;
        w.telegram.fault("*", Fault::Status(401, UNAUTHORIZED.to_owned()), FOREVER);
        w.say("ann", "this wakes the poll");
        let (code, log) = running.ended(REFUSES_WITHIN).await;
        assert_eq!(code, 78, "{log}");
        assert!(log.contains("copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN"), "{log}");

        let (code, log) = Process::begin(w).ended(REFUSES_WITHIN).await;
        assert_eq!(code, 78, "{log}");
        // The menu is set once for each language.
        let calls = w.telegram.calls().iter().filter(|call| !call.is("setMyCommands")).count();
        assert!(calls < 15, "a busy loop: {calls} calls");
    })
    .await;
}

/// Starts the daemon once, damages its database, and expects the next start to fail with code 74 and these words.
async fn refuses_after(spoil: impl Fn(&World), words: &str) {
    World::without_daemon(async |w| {
        let first = Process::start(w).await;
        w.say("ann", "something to keep");
        w.telegram.all_confirmed().await;
        first.terminate();
        assert_eq!(first.ended(STOPS_WITHIN).await.0, 0);
        spoil(w);
        let (code, log) = Process::begin(w).ended(REFUSES_WITHIN).await;
        assert_eq!(code, 74, "{log}");
        assert!(log.contains(words), "{words:?} is not in:\n{log}");
    })
    .await;
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let newer = |w: &World| {
        let conn = Connection::open(w.database()).expect("open the database");
        conn.pragma_update(None, "user_version", 999).expect("set the version");
    };
    refuses_after(newer, "is of version 999, this chime knows versions up to").await;
}

#[tokio::test]
async fn a_database_that_is_gone_is_missed() {
    let gone = |w: &World| fs::remove_file(w.database()).expect("delete the database");
    refuses_after(gone, "was here and is gone").await;
}

#[tokio::test]
async fn a_corrupt_header_is_refused() {
    let corrupt = |w: &World| {
        let mut bytes = fs::read(w.database()).expect("read the database");
        bytes[..100].fill(0xAA);
        fs::write(w.database(), bytes).expect("write the database");
    };
    refuses_after(corrupt, "the database is damaged; restore it from a backup").await;
}

#[tokio::test]
async fn a_file_of_another_program_is_refused() {
    let foreign = |w: &World| {
        fs::remove_file(w.database()).expect("delete the database");
        let conn = Connection::open(w.database()).expect("open another");
        conn.execute_batch("CREATE TABLE recipes (name TEXT)").expect("create a table");
    };
    refuses_after(foreign, "is not a Chime database").await;
}

/// Permissions do not stop a superuser. A folder in place of the log file does: the database can be read but not
/// written.
#[tokio::test]
async fn a_database_that_cannot_be_written_is_refused() {
    let unwritable = |w: &World| {
        let wal = w.database().with_extension("db-wal");
        let _ = fs::remove_file(&wal);
        fs::create_dir(wal).expect("a folder in the way");
    };
    refuses_after(unwritable, "cannot be written").await;
}

/// Pages after the schema are overwritten: the daemon may start, and ends as soon as it reads one.
#[tokio::test]
async fn corrupt_pages_end_the_daemon_and_confirm_nothing() {
    World::without_daemon(async |w| {
        let first = Process::start(w).await;
        w.say("ann", "something to keep");
        w.telegram.all_confirmed().await;
        first.terminate();
        assert_eq!(first.ended(STOPS_WITHIN).await.0, 0);
        spoil(w, "message");

        let process = Process::begin(w);
        w.say("ann", "@bot is it all there?");
        let (code, log) = process.ended(REFUSES_WITHIN).await;
        assert_eq!(code, 74, "{log}");
        assert!(log.contains("the database is damaged; restore it from a backup"), "{log}");
        assert_eq!(w.telegram.pending_updates(), 1, "what could not be stored is not confirmed");
    })
    .await;
}

/// New updates can be stored, but notices about them cannot.
#[tokio::test]
async fn corrupt_pages_that_a_job_meets_end_the_daemon() {
    World::without_daemon(async |w| {
        w.model.script(["Nine."]);
        let first = Process::start(w).await;
        let tag = w.say("ann", "@bot how many?");
        w.answer_to(tag).await;
        w.settled().await;
        first.terminate();
        assert_eq!(first.ended(STOPS_WITHIN).await.0, 0);
        spoil(w, "outbox");

        let process = Process::begin(w);
        w.model.always("Nine.");
        w.say("ann", "@bot is it all there?");
        let (code, log) = process.ended(REFUSES_WITHIN).await;
        assert_eq!(code, 74, "{log}");
        assert!(log.contains("the database is damaged; restore it from a backup"), "{log}");
    })
    .await;
}

/// A job of an unknown kind, as after downgrading to a version without it.
#[tokio::test]
async fn a_job_of_another_version_is_put_aside_and_all_else_goes_on() {
    World::without_daemon(async |w| {
        let first = Process::start(w).await;
        first.terminate();
        assert_eq!(first.ended(STOPS_WITHIN).await.0, 0);
        let conn = Connection::open(w.database()).expect("open the database");
        conn.execute_batch(
            r#"INSERT INTO job (kind, key, lane, due_at, state, payload)
               VALUES ('dream', '1', 0, 0, 'due', '{"dream":{}}'), ('answer', '-1:2', -1, 0, 'due', '{"answer":7}')"#,
        )
        .expect("add jobs");
        let mut second = Process::start(w).await;
        second.logged("2 jobs of another version were put aside").await;
        w.model.script(["Nine."]);
        let tag = w.say("ann", "@bot how many?");
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
        let parked = w.read_store(|conn| jobs::parked(conn, 10)).await;
        assert_eq!(parked.iter().map(|job| job.kind.as_str()).collect::<Vec<_>>(), ["dream", "answer"]);

        // Retrying them anyway is harmless.
        conn.execute_batch("UPDATE job SET state = 'due' WHERE state = 'parked'").expect("retry them");
        w.model.script(["Ten."]);
        let tag = w.say("ann", "@bot how many now?");
        assert_eq!(w.words_to(tag).await, "Ten.");
    })
    .await;
}

/// Overwrites the first page of a table.
fn spoil(w: &World, table: &str) {
    let conn = Connection::open(w.database()).expect("open the database");
    let page: i64 = conn
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [table], |row| row.get(0))
        .expect("a page");
    drop(conn);
    let mut bytes = fs::read(w.database()).expect("read the database");
    let at = usize::try_from(page - 1).expect("a page number") * 4096;
    bytes[at..at + 4096].fill(0xAA);
    fs::write(w.database(), bytes).expect("write the database");
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_all_its_problems() {
    World::without_daemon(async |w| {
        w.set("TELEGRAM_BOT_TOKEN", "no token");
        w.set("POLL_TIMEOUT", "90");
        w.set("ALLOWED_CHATS", "here");
        let (code, log) = Process::begin(w).ended(REFUSES_WITHIN).await;
        assert_eq!(code, 78, "{log}");
        for name in ["TELEGRAM_BOT_TOKEN", "POLL_TIMEOUT", "ALLOWED_CHATS"] {
            assert!(log.contains(name), "{name} is not told of: {log}");
        }
        assert!(!log.contains("no token"), "a secret is shown: {log}");
        assert!(!w.database().exists());
    })
    .await;
}

/// Messages of a chat whose vectors take many batches.
const FAR_BACK: i64 = 1_530;

/// Stores a chat with an old message about the code of a door, as an earlier run of the daemon would have.
async fn said_long_ago(w: &World) {
    let (store, _) = Store::open(&w.database(), w.clock.now()).expect("open the database");
    let (chat, ann, begun) = (w.chat, w.member("ann"), w.clock.now().minus(Duration::from_secs(2 * 24 * 3600)));
    let group = Chat { id: chat, kind: ChatKind::Supergroup, title: None, username: None };
    let take_in = move |tx: &Writer<'_>| {
        let row = chats::upsert(tx, &group)?;
        let things = ["soup", "train", "garden", "printer", "guitar", "boiler", "invoice"];
        for (number, stored) in (0..FAR_BACK).zip(transcript(&"10:00 ann#1 said\n".repeat(FAR_BACK as usize))) {
            let mut said = stored.message;
            let thing = |by: i64| things[(number / by % 7) as usize];
            said.chat = chat;
            // In a topic of its own, so that it is in no other window.
            said.forum_topic = Some(ForumTopicId(77));
            said.id = MessageId(1_000_000 + number);
            said.sender.id = ann;
            said.sent_at = begun.plus(Duration::from_secs(number.unsigned_abs()));
            said.text = match number {
                7 => "the code of the front door is 4711".to_owned(),
                _ => format!("the {} of {} and the {} were fine", thing(1), thing(7), thing(49)),
            };
            messages::take_in(tx, &row, &said)?;
        }
        Ok(())
    };
    store.write(Priority::Background, take_in).await.expect("store a chat");
    let embedder = Arc::new(Embedder::shipped().expect("the model inside the program"));
    let indexer = VectorIndexer::new(store.clone(), w.clock.clone(), VectorSource::Local(embedder));
    while !indexer.run_once().await.expect("make vectors") {}
    store.close().await;
}

/// Returns the number of messages with a vector, and the model of the vectors.
async fn vectors_and_model(w: &World) -> (i64, Option<String>) {
    w.read_store(|conn| {
        let count = conn.query_row("SELECT count(*) AS n FROM message_vector", [], |raw| raw.get("n"))?;
        Ok((count, embedding_spaces::current(conn)?.map(|space| space.model)))
    })
    .await
}

/// Returns the line of `chime check` about vectors, with its numbers of messages with a vector and of all messages.
fn checked_vectors(w: &World) -> (u64, u64, String) {
    let folder = w.database().parent().expect("a folder").to_owned();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_chime"))
        .args(["check", "--offline"])
        .env_clear()
        .envs(w.environment())
        .current_dir(folder)
        .output()
        .expect("run chime check");
    let actual = String::from_utf8(output.stdout).expect("text");
    let line = actual.lines().find(|line| line.contains("vectors:")).unwrap_or_else(|| panic!("{actual}")).trim();
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    (numbers.next().expect("done"), numbers.next().expect("of all"), line.to_owned())
}

/// Makes the vector job due at once; the daemon would run it a minute after its start.
fn vectors_are_due(w: &World) {
    let database = Connection::open(w.database()).expect("open the database");
    database.busy_timeout(Duration::from_secs(10)).expect("wait for the daemon");
    let moved = database.execute("UPDATE job SET due_at = 0 WHERE kind = 'vectors'", []);
    assert_eq!(moved.expect("the job is due"), 1);
    w.say("ben", "good morning");
}

#[tokio::test]
async fn killed_while_another_model_makes_its_vectors() {
    World::without_daemon(async |w| {
        said_long_ago(w).await;
        Process::start(w).await.kill();
        let (count, old) = vectors_and_model(w).await;
        let old = old.expect("a model");
        assert_eq!(
            checked_vectors(w).2,
            format!("ok vectors: {count} of {count} messages and 0 of 0 summaries have one")
        );
        // The same table under another name counts as another model.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("embedding/chat-static-ml-160-int8");
        w.set("EMBEDDING", &format!("model2vec:{}", folder.display()));
        let second = Process::start(w).await;
        vectors_are_due(w);
        let former = old.clone();
        w.until("some vectors of the second model are made", move |conn| {
            let model = embedding_spaces::current(conn)?.map(|space| space.model);
            Ok(model.is_some_and(|model| model != former) && conn.prepare("SELECT 1 FROM message_vector")?.exists([])?)
        })
        .await;
        second.kill();
        let (made, new) = vectors_and_model(w).await;
        assert!(made > 0 && made < count, "ended half-way: {made} of {count}");
        assert!(new.is_some_and(|new| new != old));
        let (done, all, actual) = checked_vectors(w);
        assert!(done > 0 && done < all, "{actual}");
        let _third = Process::start(w).await;
        w.model.script(["It is 4711."]);
        let tag = w.say("ben", "@bot what is the code of the front door?");
        let answer = w.answer_to(tag).await;
        let record = w.record_of(&answer).await;
        let found = record.slots.iter().flat_map(|slot| &slot.found).find(|found| found.retrieved.words > 0.5);
        assert!(found.is_some(), "found by words: {:?}", record.slots);
        assert!(w.prompt(1).await.contains("front door is 4711"));
        vectors_are_due(w);
        w.until("all messages have a vector of the second model", |conn| {
            Ok(!conn.prepare("SELECT 1 FROM vector_due")?.exists([])?)
        })
        .await;
        let (done, all, actual) = checked_vectors(w);
        assert!(done >= 1500 && done == all, "{actual}");
        w.settled().await;
    })
    .await;
}
