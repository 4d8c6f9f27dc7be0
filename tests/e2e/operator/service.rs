//! Notifications to a service manager.

use std::os::unix::net::UnixDatagram;
use std::path::Path;

use chime::cli::Exit;
use chime_sandbox::Setup;

use super::{Machine, PATIENCE};

fn deployed(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name);
    std::fs::read_to_string(path).expect("a file of the deployment")
}

/// Waits until the manager receives `word`.
async fn shown(manager: &UnixDatagram, word: &'static str) {
    let socket = manager.try_clone().expect("the same socket");
    let waiting = tokio::task::spawn_blocking(move || {
        let mut buffer = [0; 512];
        loop {
            let length = socket.recv(&mut buffer).expect("a message of the daemon");
            let message = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default()).into_owned();
            if message.lines().any(|line| line == word) {
                return;
            }
        }
    });
    waiting.await.unwrap_or_else(|error| panic!("the manager was not told {word}: {error}"));
}

#[tokio::test]
async fn a_service_manager_is_told_that_it_started_lives_and_stops() {
    let mut machine = Machine::new(Setup::default()).await;
    let socket = machine.folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).expect("a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    machine.set("NOTIFY_SOCKET", &socket.display().to_string());
    let mut daemon = machine.start();
    shown(&manager, "READY=1").await;
    machine.telegram.called("getUpdates", 1).await;
    assert_eq!(daemon.stop().await, Some(0));
    shown(&manager, "STOPPING=1").await;
}

#[tokio::test]
async fn a_start_without_telegram_counts_as_started() {
    let mut machine = Machine::new(Setup::default()).await;
    let socket = machine.folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).expect("a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    machine.set("NOTIFY_SOCKET", &socket.display().to_string());
    // Nothing listens on this port.
    machine.set("TELEGRAM_API_URL", "http://127.0.0.1:9");
    let mut daemon = machine.start();
    shown(&manager, "READY=1").await;
    // Sent again with every retry, so that the watchdog does not fire.
    shown(&manager, "WATCHDOG=1").await;
    shown(&manager, "STATUS=waiting for Telegram").await;
    assert_eq!(daemon.stop().await, Some(0));
}

#[tokio::test]
async fn exit_codes_tell_what_starting_again_would_not_mend() {
    let mut machine = Machine::new(Setup::default()).await;
    assert_eq!(machine.run(&["walk"]).await.status.code(), Some(2));
    machine.set("DATABASE_PATH", "missing/folder/chime.db");
    assert_eq!(machine.start().ended().await, Some(74));
    machine.set("DATABASE_PATH", "chime.db");
    let token = machine.telegram.token().to_owned();
    machine.set("TELEGRAM_BOT_TOKEN", "1:wrong");
    assert_eq!(machine.start().ended().await, Some(78));
    machine.set("TELEGRAM_BOT_TOKEN", &token).set("POLL_TIMEOUT", "soon");
    assert_eq!(machine.start().ended().await, Some(78));
    machine.set("POLL_TIMEOUT", "1s");
    let (_held, _) = machine.store();
    assert_eq!(machine.start().ended().await, Some(75));
}

#[test]
fn the_unit_knows_the_exit_codes() {
    let lasting = [Exit::Usage, Exit::DatabaseUnusable, Exit::AlreadyRunning, Exit::Configuration];
    let codes: Vec<String> = lasting.iter().map(|exit| exit.code().to_string()).collect();
    let line = format!("RestartPreventExitStatus={}", codes.join(" "));
    assert!(deployed("chime.service").lines().any(|given| given == line), "{line}");
}

#[test]
fn unit_script_and_walkthrough_speak_of_the_same_places() {
    let (unit, script, walkthrough) =
        (deployed("chime.service"), deployed("chimectl"), deployed("../docs/installing.md"));
    for place in ["/etc/chime/chime.env", "/var/lib/chime/backups"] {
        for (name, text) in [("unit", &unit), ("script", &script), ("walkthrough", &walkthrough)] {
            assert!(text.contains(place), "the {name} does not name {place}");
        }
    }
    assert!(deployed("litestream.yml").contains("path: /var/lib/chime/chime.db"));
}

#[test]
fn health_is_served_on_one_port_wherever_it_is_described() {
    for name in ["compose.yml", "../docs/installing.md"] {
        let text = deployed(name);
        let mut lines = text.lines().filter(|line| line.contains("HTTP_ADDR"));
        assert!(lines.all(|line| line.contains(":9464")), "{name}");
    }
    assert!(deployed("compose.yml").contains("127.0.0.1:9464:9464"));
}
