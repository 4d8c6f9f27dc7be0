//! `chime backup` and `chime restore`.

use std::process::Command;

use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Setup};
use chime_store::{Store, messages};
use chime_testkit::Reply;
use rusqlite::Connection;

use super::{Daemon, Machine};

/// Runs a daemon that answers once.
async fn at_work(machine: &mut Machine) -> Daemon {
    machine.set("ALLOWED_CHATS", "*");
    let daemon = machine.start();
    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table"));
    let ana = machine.telegram.add_member(chat, "Ana");
    machine.model.script([Reply::text("On Friday.")]);
    let now = Clock::system().now();
    let cursor = machine.telegram.cursor();
    machine.telegram.say(chat, chime_sandbox::Post::new(ana, "@bot when?", now));
    machine.telegram.next_sent(cursor).await;
    daemon
}

async fn run(machine: &Machine, arguments: &[&str]) -> (Option<i32>, String) {
    let output = machine.run(arguments).await;
    let shown = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&shown).into_owned())
}

#[tokio::test]
async fn a_copy_taken_while_the_daemon_works_brings_everything_back() {
    let mut machine = Machine::new(Setup::default()).await;
    let mut daemon = at_work(&mut machine).await;
    let (code, shown) = run(&machine, &["backup", "copy.db"]).await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.starts_with("copied the database to copy.db: "), "{shown}");
    let (code, shown) = run(&machine, &["restore", "copy.db"]).await;
    assert_eq!((code, shown.contains("another chime already works with")), (Some(75), true), "{shown}");
    assert_eq!(daemon.stop().await, Some(0));
    let (code, shown) = run(&machine, &["restore", "copy.db"]).await;
    assert_eq!((code, shown.contains("there is already a file at")), (Some(1), true), "{shown}");

    std::fs::rename(machine.database(), machine.folder.path().join("old.db")).expect("move the old file away");
    let mut daemon = machine.start();
    assert_eq!(daemon.ended().await, Some(74), "a database that is gone is not replaced by an empty one");
    assert_eq!(run(&machine, &["restore", "copy.db"]).await.0, Some(0));
    let store = Store::open_to_read(&machine.database()).expect("the restored database");
    let kept = store.read(|conn| messages::all_of(conn, chime_core::ChatKey(1))).await.expect("read it");
    assert!(kept.iter().any(|message| message.message.text == "@bot when?"));
    store.close().await;
    let polls = machine.telegram.calls().iter().filter(|call| call.is("getUpdates")).count();
    let mut daemon = machine.start();
    // The previous process may have polled any number of times, and a signal before the handler is set would kill this
    // one.
    machine.telegram.called("getUpdates", polls + 1).await;
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
}

#[tokio::test]
async fn nothing_is_overwritten_and_a_folder_gets_a_copy_named_by_the_time() {
    let mut machine = Machine::new(Setup::default()).await;
    assert_eq!(run(&machine, &["backup", "copy.db"]).await.0, Some(74), "there is nothing to copy yet");
    let mut daemon = at_work(&mut machine).await;
    assert_eq!(daemon.stop().await, Some(0));
    let precious = machine.folder.path().join("precious");
    std::fs::write(&precious, "mine").expect("write a file");
    assert_eq!(run(&machine, &["backup", "precious"]).await.0, Some(1));
    assert_eq!(std::fs::read_to_string(&precious).expect("read it"), "mine");
    let folder = machine.folder.path().join("backups");
    std::fs::create_dir(&folder).expect("a folder");
    assert_eq!(run(&machine, &["backup", "backups"]).await.0, Some(0));
    let names: Vec<String> = std::fs::read_dir(&folder)
        .expect("read the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert!(matches!(names.as_slice(), [one] if one.starts_with("chime-") && one.ends_with(".db")), "{names:?}");
}

#[tokio::test]
async fn a_damaged_or_foreign_or_newer_copy_is_refused() {
    let mut machine = Machine::new(Setup::default()).await;
    let mut daemon = at_work(&mut machine).await;
    assert_eq!(daemon.stop().await, Some(0));
    let folder = machine.folder.path().to_owned();
    assert_eq!(run(&machine, &["backup", "newer.db"]).await.0, Some(0));
    Connection::open(folder.join("newer.db"))
        .and_then(|conn| conn.pragma_update(None, "user_version", 99))
        .expect("make it newer");
    assert_eq!(run(&machine, &["backup", "damaged.db"]).await.0, Some(0));
    let mut bytes = std::fs::read(folder.join("damaged.db")).expect("read the copy");
    bytes.truncate(bytes.len() / 2);
    std::fs::write(folder.join("damaged.db"), bytes).expect("cut it");
    std::fs::write(folder.join("foreign.db"), "no database").expect("write a file");
    std::fs::rename(machine.database(), folder.join("old.db")).expect("move the old file away");
    for (copy, word) in [
        ("newer.db", "version 99"),
        ("damaged.db", "damaged.db is damaged"),
        ("foreign.db", "no copy of a Chime database at foreign.db"),
        ("none.db", "no copy of a Chime database at none.db"),
        (".", "no copy of a Chime database at ."),
    ] {
        let (code, shown) = run(&machine, &["restore", copy]).await;
        assert!(code == Some(74) && shown.contains(word), "{copy}: {code:?} {shown}");
        assert!(!machine.database().exists(), "{copy}");
    }
}

#[tokio::test]
async fn a_log_of_another_database_is_not_played_into_the_restored_one() {
    let mut machine = Machine::new(Setup::default()).await;
    let mut daemon = at_work(&mut machine).await;
    assert_eq!(daemon.stop().await, Some(0));
    assert_eq!(run(&machine, &["backup", "copy.db"]).await.0, Some(0));
    std::fs::rename(machine.database(), machine.folder.path().join("old.db")).expect("move the old file away");
    std::fs::write(machine.folder.path().join("chime.db-wal"), "left behind").expect("write a file");
    let (code, shown) = run(&machine, &["restore", "copy.db"]).await;
    assert_eq!((code, shown.contains("chime.db-wal")), (Some(1), true), "{shown}");
}

#[tokio::test]
async fn of_a_copy_that_does_not_fit_nothing_is_left() {
    let mut machine = Machine::new(Setup::default()).await;
    let mut daemon = at_work(&mut machine).await;
    assert_eq!(daemon.stop().await, Some(0));
    assert_eq!(run(&machine, &["backup", "copy.db"]).await.0, Some(0));
    let before = files(&machine);
    // 100 blocks are less than the copy and more than SQLite's other files.
    let line = "trap '' XFSZ; ulimit -S -f 100; exec \"$0\" \"$@\"";
    for (command, place) in [("backup", "second.db"), ("restore", "copy.db")] {
        if command == "restore" {
            std::fs::rename(machine.database(), machine.folder.path().join("old.db")).expect("move it away");
        }
        let mut shell = Command::new("sh");
        shell.args(["-c", line, env!("CARGO_BIN_EXE_chime"), command, place]);
        let output = shell.current_dir(machine.folder.path()).env_clear().envs(&machine.settings).output();
        let output = output.expect("run the shell");
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), shown.contains("no space is left")), (Some(1), true), "{shown}");
    }
    let moved = |name: &String| if name == "chime.db" { "old.db".to_owned() } else { name.clone() };
    let mut expected: Vec<String> = before.iter().map(moved).collect();
    expected.sort();
    assert_eq!(files(&machine), expected);
}

/// Returns the names of the files in the machine's folder, sorted.
fn files(machine: &Machine) -> Vec<String> {
    let entries = std::fs::read_dir(machine.folder.path()).expect("read the folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
