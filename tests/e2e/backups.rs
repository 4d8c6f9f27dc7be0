//! Daily backups over days, and forgetting in them.

use std::path::Path;
use std::time::Duration;

use chime_store::backups;
use chime_world::World;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MARKER: &str = "zqdaily7xk";

fn files_with_marker(folder: &Path) -> (usize, usize) {
    let files: Vec<Vec<u8>> = std::fs::read_dir(folder)
        .expect("read the folder")
        .map(|entry| std::fs::read(entry.expect("an entry").path()).expect("read a copy"))
        .collect();
    let marked = files.iter().filter(|bytes| bytes.windows(MARKER.len()).any(|part| part == MARKER.as_bytes()));
    (files.len(), marked.count())
}

#[tokio::test]
async fn the_newest_daily_copies_stay_until_somebody_forgets_what_is_in_them() {
    let folder = tempfile::tempdir().expect("a folder for the copies");
    let place = folder.path().join("copies");
    let settings = [("BACKUP_DIR", place.to_str().expect("text")), ("BACKUP_KEEP", "2")];
    World::with(&settings, async |w| {
        w.say("ann", &format!("the code of the gate is {MARKER}"));
        w.quiet(DAY * 4).await;
        assert_eq!(files_with_marker(&place), (2, 2));
        let listed = backups::list(&w.database(), Some(&place)).expect("list the copies");
        assert!(listed.iter().all(|copy| copy.messages == Some(1)), "{listed:?}");
        assert_eq!(listed[0].made_at.day() - listed[1].made_at.day(), 1, "one each day: {listed:?}");
        // The older copy, restored elsewhere, holds what was said.
        let restored = folder.path().join("restored.db");
        chime_store::restore(&listed[1].path, &restored, &Default::default()).expect("restore the copy");

        let forget = w.say("ann", "/forget me");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!(files_with_marker(&place), (0, 0));
        w.quiet(DAY * 3).await;
        assert_eq!(files_with_marker(&place), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn a_copy_holds_nothing_for_longer_than_was_promised() {
    let folder = tempfile::tempdir().expect("a folder for the copies");
    let settings = [("BACKUP_DIR", folder.path().to_str().expect("text")), ("RETENTION_DAYS", "30")];
    World::with(&settings, async |w| {
        w.set("BACKUP_KEEP", "2");
        w.restart().await;
        w.say("ann", MARKER);
        w.quiet(DAY * 2).await;
        assert_eq!(files_with_marker(folder.path()), (2, 2));
        w.quiet(DAY * 27).await;
        w.say("ann", "good morning");
        w.quiet(DAY * 2).await;
        let (copies, marked) = files_with_marker(folder.path());
        assert!(copies > 0 && marked == 0, "{marked} of {copies} copies");
    })
    .await;
}

#[tokio::test]
async fn copies_of_a_chat_that_the_bot_was_removed_from_go_with_its_messages() {
    let folder = tempfile::tempdir().expect("a folder for the copies");
    World::with(&[("BACKUP_DIR", folder.path().to_str().expect("text"))], async |w| {
        w.say("ann", MARKER);
        w.quiet(DAY).await;
        w.telegram.kick_bot(w.chat);
        w.telegram.all_confirmed().await;
        w.quiet(DAY * 29).await;
        assert!(files_with_marker(folder.path()).1 > 0);
        w.quiet(DAY * 2).await;
        assert_eq!(files_with_marker(folder.path()).1, 0);
    })
    .await;
}

#[tokio::test]
async fn forgetting_reaches_copies_in_a_folder_that_is_no_longer_set_and_old_ones_go() {
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder for the copies"));
    let [first, second] = folders.each_ref().map(tempfile::TempDir::path);
    World::with(&[("BACKUP_DIR", first.to_str().expect("text"))], async |w| {
        w.say("ann", MARKER);
        w.quiet(DAY * 2).await;
        w.set("BACKUP_DIR", second.to_str().expect("text"));
        w.restart().await;
        w.quiet(DAY).await;
        assert!(files_with_marker(first).1 > 0 && files_with_marker(second).1 > 0);
        w.set("BACKUP_DIR", "");
        w.restart().await;
        let forget = w.say("ann", "/forget me");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!((files_with_marker(first).1, files_with_marker(second).1), (0, 0));

        w.set("BACKUP_DIR", first.to_str().expect("text"));
        w.restart().await;
        w.quiet(DAY).await;
        assert!(files_with_marker(first).0 > 0);
        w.set("BACKUP_DIR", "");
        w.clock.advance(DAY * 31);
        w.restart().await;
        w.quiet(DAY).await;
        assert_eq!(files_with_marker(first).0, 0, "no copy is older than 30 days");
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_was_wrong_costs_no_copy() {
    let folder = tempfile::tempdir().expect("a folder for the copies");
    let hour = Duration::from_secs(3600);
    World::with(&[("BACKUP_DIR", folder.path().to_str().expect("text"))], async |w| {
        w.quiet(DAY * 2).await;
        let (database, now) = (w.database(), w.clock.now());
        let copies = || backups::list(&database, Some(folder.path())).expect("list the copies");
        let before = copies();
        assert!(before.len() >= 2, "{before:?}");
        w.stop().await;
        w.set_daemon_ahead(DAY * 400);
        w.start().await;
        w.quiet(hour).await;
        assert_eq!(copies(), before, "no copy while the clocks are apart");
        w.stop().await;
        w.set_daemon_here();
        // Such a copy is made while Telegram is out of reach.
        let time = now.plus(DAY * 400).to_utc().format("%Y%m%d-%H%M%S");
        let misdated = folder.path().join(format!("chime.db.daily-{time}"));
        std::fs::copy(&before[0].path, &misdated).expect("write a copy");
        w.start().await;
        w.quiet(hour).await;
        // The nightly copy may be made in this hour.
        assert!(copies().len() - before.len() <= 2, "none is made each hour");
        w.quiet(DAY * 7).await;
        assert!(!misdated.exists());
        assert_eq!(copies().len(), 7);
    })
    .await;
}
