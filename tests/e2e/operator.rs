//! What the person sees who runs it: the real binary as a process of its own.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use chime::clock::Clock;
use chime::domain::{JobId, JobKind};
use chime::sandbox::faults::Fault;
use chime::sandbox::{NewChat, Sandbox, Setup, Standing};
use chime::store::{Priority, Store, jobs};
use chime::testkit::{ModelServer, Reply};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A machine with Telegram and a model server in reach, and what the operator set.
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
            ("POLL_TIMEOUT".to_owned(), "1s".to_owned()),
        ]);
        Self { folder, telegram, model, settings }
    }

    fn database(&self) -> std::path::PathBuf {
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

    /// The lines of `chime check`, with what differs from machine to machine taken out, and its exit code.
    async fn check(&self, arguments: &[&str], expected: Expect) {
        let output = self.run(&[&["check"], arguments].concat()).await;
        let told = String::from_utf8(output.stdout).expect("text");
        let steady: Vec<String> = told.lines().map(|line| self.steady(line)).collect();
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

    /// A daemon's database with some groups in it.
    async fn with_groups(&self, groups: &[(&str, Standing)]) {
        for (title, standing) in groups {
            let chat = self.telegram.add_chat(NewChat::supergroup(*title).with_bot(*standing));
            let (store, _) = self.store();
            let row = chime::domain::Chat {
                id: chat,
                kind: chime::domain::ChatKind::Supergroup,
                title: Some((*title).to_owned()),
                username: None,
            };
            store
                .write(Priority::Answering, move |tx| chime::store::chats::upsert(tx, &row).map(drop))
                .await
                .expect("store a chat");
            store.close().await;
        }
    }

    fn store(&self) -> (Store, chime::store::Opened) {
        Store::open(&self.database(), Clock::system().now()).expect("open the database")
    }
}

fn is_measure(word: &str) -> bool {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ',');
    !digits.is_empty() && digits.len() < word.len() + 1 && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn tool_call() -> Reply {
    let call = json!({"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}});
    Reply::Body(json!({
        "id": "c1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}],
    }))
}

fn stream() -> Reply {
    Reply::Status(200, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n".to_owned())
}

#[tokio::test]
async fn a_machine_on_which_all_is_well() {
    let machine = Machine::new(Setup::default()).await;
    machine.with_groups(&[("Friday table", Standing::Member)]).await;
    machine.model.script([Reply::text("ready"), tool_call(), stream()]);
    machine
        .check(
            &[],
            expect![[r#"
                ok config: every setting is valid
                ok database: chime.db is sound, version N N KiB
                (the disk of this machine)
                ok jobs: N open, none parked
                ok access: owners: N allowed chats: N
                ok telegram: the token belongs to @bot
                ok clock: agrees with Telegram's
                ok webhook: none is set, so chime may poll
                ok privacy: privacy mode is off: the bot reads its groups
                ok model: scripted answers in N
                ok tools: the model calls tools
                ok streaming: the server streams
                exit Some(0)"#]],
        )
        .await;
    assert!(machine.telegram.unexpected().is_empty());
}

#[tokio::test]
async fn a_fresh_machine_without_a_model_is_told_what_comes_next() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("OPENAI_BASE_URL", "").set("MODEL", "").set("OWNER_IDS", "");
    machine.check(&[], expect![[r#"
        ok config: every setting is valid
        warn database: there is none at chime.db yet; do: start chime run, or set DATABASE_PATH
        (the disk of this machine)
        warn access: there is no owner and no allowed chat, so nobody can use the bot; do: set OWNER_IDS to your Telegram id, or ALLOWED_CHATS to the ids of your groups
        ok telegram: the token belongs to @bot
        ok clock: agrees with Telegram's
        ok webhook: none is set, so chime may poll
        ok privacy: privacy mode is off: the bot reads its groups
        warn model: none is set: answers are digests of the conversation; do: set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL
        exit Some(0)"#]]).await;
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_with_its_remedy() {
    let setup = Setup { reads_all: false, ..Setup::default() };
    let mut machine = Machine::new(setup).await;
    machine.with_groups(&[("Friday table", Standing::Member), ("Board", Standing::Administrator)]).await;
    let hook = r#"{"ok":true,"result":{"url":"https://hooks.example.org/secret/path","pending_update_count":3}}"#;
    machine.telegram.fault("getWebhookInfo", Fault::Status(200, hook.to_owned()), 1);
    machine.model.script([Reply::Status(401, r#"{"error":{"code":"invalid_api_key"}}"#.to_owned())]);
    machine.set("LOOKBACK_LIMIT", "many");
    machine.check(&[], expect![[r#"
        FAIL config: LOOKBACK_LIMIT is `many`; do: set a whole number from N to N for example LOOKBACK_LIMIT=20
        ok database: chime.db is sound, version N N KiB
        (the disk of this machine)
        ok jobs: N open, none parked
        ok access: owners: N allowed chats: N
        ok telegram: the token belongs to @bot
        ok clock: agrees with Telegram's
        FAIL webhook: updates go to a webhook at hooks.example.org instead of chime; do: open https://api.telegram.org/bot<TOKEN>/deleteWebhook once, with your token in it
        FAIL privacy: privacy mode is on and the bot is no admin in "Friday table" (-1001000000001): it sees no plain mentions there; do: send /setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again; or make it an admin there
        FAIL model: scripted: the server refuses (HTTP N invalid_api_key); do: set OPENAI_API_KEY to a key of this server
        exit Some(69)"#]]).await;
}

#[tokio::test]
async fn a_refused_token_and_a_dead_model_server() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("TELEGRAM_BOT_TOKEN", "1:wrong").set("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    machine.check(&[], expect![[r#"
        ok config: every setting is valid
        warn database: there is none at chime.db yet; do: start chime run, or set DATABASE_PATH
        (the disk of this machine)
        ok access: owners: N allowed chats: N
        FAIL telegram: the token is refused; do: copy the token again from @BotFather (/token) and set TELEGRAM_BOT_TOKEN
        ok clock: agrees with Telegram's
        FAIL model: scripted: the model server cannot be reached; do: start the model server, or correct OPENAI_BASE_URL
        exit Some(69)"#]]).await;
}

#[tokio::test]
async fn offline_nobody_is_asked_and_scripts_read_json() {
    let machine = Machine::new(Setup::default()).await;
    std::fs::write(machine.database(), b"not a database at all, and long enough to be looked at").expect("write");
    let output = machine.run(&["check", "--offline", "--json"]).await;
    assert_eq!(output.status.code(), Some(69));
    let findings: Vec<Value> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect();
    let names: Vec<&str> = findings.iter().filter_map(|finding| finding["name"].as_str()).collect();
    assert_eq!(names, ["config", "database", "disk", "access"]);
    assert_eq!(findings[1]["verdict"], "FAIL");
    assert!(machine.telegram.calls().is_empty());
    assert!(machine.model.requests().is_empty());
}

#[tokio::test]
async fn parked_jobs_are_shown_and_retried_while_somebody_holds_the_database() {
    let machine = Machine::new(Setup::default()).await;
    let (store, _) = machine.store();
    let now = Clock::system().now();
    store
        .write(Priority::Answering, move |tx| {
            for key in ["1:1", "1:2"] {
                jobs::add(tx, JobKind::Answer, key, 1, now)?;
            }
            jobs::park(tx, JobId(1), "the prompt cannot be rendered")?;
            jobs::park(tx, JobId(2), "panicked")
        })
        .await
        .expect("park two jobs");
    let offline = machine.run(&["check", "--offline"]).await;
    let told = String::from_utf8(offline.stdout).expect("text");
    assert!(told.contains("2 parked: #1 answer (attempt 1: the prompt cannot be rendered), #2"), "{told}");
    assert!(told.contains("do: chime retry JOB"), "{told}");
    assert_eq!(machine.run(&["retry", "9"]).await.status.code(), Some(1));
    assert_eq!(machine.run(&["retry", "1"]).await.status.code(), Some(0));
    assert_eq!(store.read(jobs::counts).await.expect("counts"), (1, 1));
    assert_eq!(machine.run(&["retry", "all"]).await.status.code(), Some(0));
    assert_eq!(store.read(jobs::counts).await.expect("counts"), (2, 0));
    assert_eq!(machine.run(&["retry", "some"]).await.status.code(), Some(2));
}

#[test]
fn a_folder_is_no_database() {
    assert!(chime::store::inspect(Path::new("/")).is_err());
}
