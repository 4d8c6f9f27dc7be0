//! The operator's view: the real binary as a separate process.

mod archive;
mod backups;
mod check;
mod explain;
mod imports;
mod install;
mod keep;
mod listing;
mod mcp;
mod other_languages;
mod readme;
mod service;
mod watch;

pub use watch::free_address;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use chime_core::{Chat, ChatKind};
use chime_runtime::clock::Clock;
use chime_sandbox::{ChatMemberStatus, NewChat, Sandbox, Setup};
use chime_store::{Opened, Priority, Store, chats};
use chime_testkit::ModelServer;
use expect_test::Expect;
use tempfile::TempDir;

/// Longest real time for any step of a process.
const PATIENCE: Duration = Duration::from_secs(20);

/// Machine with an embedded Telegram, a model server and the operator's settings.
struct Machine {
    folder: TempDir,
    telegram: Sandbox,
    model: ModelServer,
    settings: BTreeMap<String, String>,
}

impl Machine {
    async fn new(setup: Setup) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let telegram = Sandbox::start(setup).await.expect("start the embedded Telegram");
        let model = ModelServer::start(Clock::system()).await.expect("start the scripted model");
        let settings = BTreeMap::from([
            ("TELEGRAM_API_URL".to_owned(), telegram.api_url()),
            ("TELEGRAM_BOT_TOKEN".to_owned(), telegram.token().to_owned()),
            ("OPENAI_BASE_URL".to_owned(), model.base_url()),
            ("MODEL".to_owned(), "scripted".to_owned()),
            ("OWNER_IDS".to_owned(), "1".to_owned()),
            ("PRIVATE_CHATS".to_owned(), "owners".to_owned()),
            ("POLL_TIMEOUT".to_owned(), "1s".to_owned()),
        ]);
        Self { folder, telegram, model, settings }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("chime.db")
    }

    fn set(&mut self, name: &str, value: &str) -> &mut Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chime"));
        command.args(arguments).current_dir(self.folder.path()).env_clear().envs(&self.settings);
        command
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        let running = tokio::task::spawn_blocking(move || command.output());
        running.await.expect("no panic").expect("start chime")
    }

    fn start(&self) -> Daemon {
        let stderr = self.folder.path().join("stderr");
        let file = File::create(&stderr).expect("a file for the log");
        let child = self.command(&["run"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn();
        Daemon { child: child.expect("start chime run"), stderr }
    }

    /// Checks the exit code and the output of `chime check`, with machine-specific values replaced.
    async fn check(&self, arguments: &[&str], expected: Expect) {
        let output = self.run(&[&["check"], arguments].concat()).await;
        let shown = String::from_utf8(output.stdout).expect("text");
        let steady: Vec<String> = shown.lines().map(|line| self.steady(line)).collect();
        expected.assert_eq(&format!("{}\nexit {:?}", steady.join("\n"), output.status.code()));
    }

    fn steady(&self, line: &str) -> String {
        if line.contains(" disk: ") {
            return "(the disk of this machine)".to_owned();
        }
        let line = line.replace(&self.folder.path().display().to_string(), "FOLDER");
        let line = line.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        line.split_whitespace().map(|word| if is_measure(word) { "N" } else { word }).collect::<Vec<_>>().join(" ")
    }

    /// Creates a database with some groups.
    async fn with_groups(&self, groups: &[(&str, ChatMemberStatus)]) {
        let (store, _) = self.store();
        for (title, status) in groups {
            let id = self.telegram.add_chat(NewChat::supergroup(*title).with_bot(*status));
            let title = Some((*title).to_owned());
            let chat = Chat { id, kind: ChatKind::Supergroup, title, username: None };
            let kept = store.write(Priority::Answering, move |tx| chats::upsert(tx, &chat).map(drop)).await;
            kept.expect("store a chat");
        }
        store.close().await;
    }

    /// Opens the database with the lock of a daemon. Open it once per test: a process that another test starts at the
    /// same moment briefly inherits the lock.
    fn store(&self) -> (Store, Opened) {
        Store::open(&self.database(), Clock::system().now()).expect("open the database")
    }
}

fn is_measure(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ',');
    !digits.is_empty()
        && digits.len() < word.len() + 1
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

/// `chime run`, killed when dropped.
struct Daemon {
    child: Child,
    stderr: PathBuf,
}

impl Daemon {
    /// Sends SIGTERM, as service managers do, and returns the exit code.
    async fn stop(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().expect("send the signal");
        self.ended().await
    }

    /// Waits for the exit.
    async fn ended(&mut self) -> Option<i32> {
        let clock = Clock::system();
        let waiting = async {
            loop {
                if let Some(status) = self.child.try_wait().expect("ask for the process") {
                    return status.code();
                }
                clock.sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("chime ends in time")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.stderr).expect("read the log")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
