//! Daily backups that go wrong.

use std::path::Path;
use std::time::Duration;

use chime_core::JobPayload;
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Post, Setup};
use chime_store::{amend, jobs};
use chime_testkit::Reply;
use rusqlite::Connection;

use super::watch::{free_address, get_until};
use super::{Machine, PATIENCE};

/// Makes the daily work of the running daemon due, which otherwise waits for a minute after the start.
async fn make_due(machine: &Machine) {
    let clock = Clock::system();
    amend(&machine.database(), |tx| jobs::add_or_move(tx, &JobPayload::Retention {}, clock.now()))
        .expect("move the job");
    // A message wakes the workers.
    let chat = machine.telegram.add_chat(NewChat::supergroup("Friday table"));
    let ana = machine.telegram.add_member(chat, "Ana");
    let cursor = machine.telegram.cursor();
    machine.model.script([Reply::text("On Friday.")]);
    machine.telegram.say(chat, Post::new(ana, "@bot when?", clock.now()));
    machine.telegram.next_sent(cursor).await;
}

/// Waits until a file whose name contains `part` is in `folder`, or until none is.
async fn until_file(folder: &Path, part: &str, is_there: bool) {
    let clock = Clock::system();
    let waiting = async {
        loop {
            let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
            if files.any(|file| file.file_name().to_string_lossy().contains(part)) == is_there {
                return;
            }
            clock.sleep(Duration::from_millis(1)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waiting).await.is_ok(), "{part} in {}: not {is_there}", folder.display());
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_reported_while_answers_go_on() {
    let mut machine = Machine::new(Setup::default()).await;
    let address = free_address();
    let place = machine.folder.path().join("copies");
    std::fs::write(&place, "no folder").expect("write a file");
    machine.set("ALLOWED_CHATS", "*").set("HTTP_ADDR", &address).set("BACKUP_DIR", place.to_str().expect("text"));
    let mut daemon = machine.start();
    get_until(&format!("http://{address}/healthz"), |status, _| status == 200).await;
    make_due(&machine).await;
    let failed = |status: u16, body: &str| status == 200 && body.contains(r#"["the daily backup failed: "#);
    get_until(&format!("http://{address}/healthz"), failed).await;
    get_until(&format!("http://{address}/metrics"), |_, body| body.contains("chime_backup_failed 1")).await;
    assert!(daemon.log().contains("the daily backup failed"), "{}", daemon.log());

    std::fs::remove_file(&place).expect("make room");
    make_due(&machine).await;
    get_until(&format!("http://{address}/metrics"), |_, body| body.contains("chime_backup_failed 0")).await;
    get_until(&format!("http://{address}/healthz"), |_, body| !body.contains(r#""backup_age_s":null"#)).await;
    let listed = machine.run(&["restore"]).await;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert_eq!(
        listed.lines().filter(|line| line.contains(" messages ") && line.contains(".daily-")).count(),
        1,
        "{listed}"
    );
    assert_eq!(daemon.stop().await, Some(0));
}

#[tokio::test]
async fn a_kill_in_the_middle_of_a_copy_loses_nothing() {
    let mut machine = Machine::new(Setup::default()).await;
    let place = machine.folder.path().join("copies");
    machine.set("ALLOWED_CHATS", "*").set("BACKUP_DIR", place.to_str().expect("text"));
    machine.store().0.close().await;
    // Large enough that a copy takes a while.
    let filler = Connection::open(machine.database()).expect("open the database");
    filler.execute_batch("CREATE TABLE filler (x); INSERT INTO filler VALUES (zeroblob(150000000));").expect("fill it");
    drop(filler);
    let daemon = machine.start();
    machine.telegram.called("getUpdates", 1).await;
    make_due(&machine).await;
    until_file(&place, ".chime-copy-", true).await;
    // Drop kills it.
    drop(daemon);
    until_file(&place, ".daily-", false).await;
    until_file(&place, ".chime-copy-", true).await;

    let polls = machine.telegram.calls().iter().filter(|call| call.is("getUpdates")).count();
    let mut daemon = machine.start();
    machine.telegram.called("getUpdates", polls + 1).await;
    make_due(&machine).await;
    until_file(&place, ".daily-", true).await;
    until_file(&place, ".chime-copy-", false).await;
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
}
