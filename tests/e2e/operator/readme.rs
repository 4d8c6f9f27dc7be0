//! The README's commands, in order, on a clean machine.

use std::process::{Command, Output, Stdio};

use chime_core::UserId;
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Post, Setup};

use crate::operator::{Daemon, Machine, PATIENCE};
use crate::showcase::played;

const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
const SETTINGS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/.env.example"));

/// Returns the commands without trailing comments.
fn commands() -> Vec<String> {
    let mut commands = Vec::new();
    let mut is_inside = false;
    for line in README.lines().map(str::trim) {
        match line {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            _ if is_inside => {
                let typed = line.split_once(" # ").map_or(line, |(typed, _)| typed);
                commands.push(typed.trim().to_owned());
            }
            _ => {}
        }
    }
    commands
}

/// Returns the demo inputs in the table's first column.
fn typed_into_the_demo() -> Vec<&'static str> {
    let table = README.lines().skip_while(|line| !line.starts_with("| you type")).skip(2);
    let first = table.take_while(|line| line.starts_with('|')).filter_map(|line| line.split('|').nth(1));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

impl Machine {
    /// Builds a command without any settings from the environment.
    fn typed(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    async fn outcome_of(&self, mut command: Command) -> Output {
        let running = tokio::task::spawn_blocking(move || command.output());
        running.await.expect("no panic").expect("it starts")
    }

    /// Waits until the daemon has printed `wanted`, and returns the output.
    async fn shown(&self, wanted: &str) -> String {
        let clock = Clock::system();
        let waiting = async {
            loop {
                let shown = std::fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
                if shown.contains(wanted) {
                    return shown;
                }
                clock.sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("the daemon says it in time")
    }
}

#[test]
fn every_command_of_the_readme_is_known_here() {
    // `.ci/run` covers the first and the second; the others run below.
    let expected = [
        "cargo run --release -- demo",
        "cargo build --release",
        "install -m 600 .env.example .env",
        "target/release/chime check",
        "target/release/chime run",
    ];
    assert_eq!(commands().iter().map(String::as_str).collect::<std::collections::BTreeSet<_>>(), expected.into());
}

#[test]
fn settings_of_the_readme_can_be_pasted() {
    let blocks: Vec<&str> = README.split("```ini\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 3, "OpenAI, Ollama and others");
    for block in blocks {
        let folder = tempfile::tempdir().expect("a folder");
        let token = "TELEGRAM_BOT_TOKEN=1:a\n";
        std::fs::write(folder.path().join(".env"), format!("{token}{block}")).expect("write .env");
        let mut check = Command::new(env!("CARGO_BIN_EXE_chime"));
        let check = check.args(["check", "--offline"]).current_dir(folder.path()).env_clear().output();
        let actual = String::from_utf8(check.expect("run chime").stdout).expect("text");
        assert!(actual.lines().any(|line| line.starts_with("ok ") && line.contains("config: ")), "{block}\n{actual}");
    }
}

#[test]
fn what_the_readme_types_into_the_demo_does_what_it_says() {
    let lines = typed_into_the_demo();
    assert_eq!(lines, ["@bot thoughts?", "> 22 @bot", "Ana: the thai place?", "> 32 /why", "> 32 !", "help", "quit"]);
    let shown = played(&lines);
    assert!(
        !shown.contains("there is no message #32"),
        "the first answer has the number that the README names: {shown}"
    );
    let effects = [
        "You  @bot thoughts?",
        "You > #22  @bot",
        "Ana  the thai place?",
        "I used these messages:",
        "message #32 has no button to press",
        "Your turn:",
    ];
    for effect in effects {
        assert!(shown.contains(effect), "{effect}: {shown}");
    }
}

#[tokio::test]
async fn a_bot_is_set_up_and_owned_by_the_readme_alone() {
    let machine = Machine::new(Setup::default()).await;
    std::fs::write(machine.folder.path().join(".env.example"), SETTINGS).expect("the example");
    let installed = machine.outcome_of(machine.typed("install", &["-m", "600", ".env.example", ".env"])).await;
    assert!(installed.status.success(), "{installed:?}");

    // Unchanged, it lacks the token and says so.
    let chime = env!("CARGO_BIN_EXE_chime");
    let check = machine.outcome_of(machine.typed(chime, &["check"])).await;
    assert!(!check.status.success(), "{check:?}");
    assert!(String::from_utf8_lossy(&check.stdout).contains("TELEGRAM_BOT_TOKEN"), "{check:?}");

    // Sets the token, a model and this test's Telegram.
    machine.model.always("On Friday.");
    let token = format!("TELEGRAM_BOT_TOKEN={}", machine.telegram.token());
    let filled = SETTINGS.replacen("TELEGRAM_BOT_TOKEN=", &token, 1);
    let around = format!(
        "\nOPENAI_BASE_URL={}\nMODEL=scripted\nTELEGRAM_API_URL={}\nPOLL_TIMEOUT=1s\n",
        machine.model.base_url(),
        machine.telegram.api_url()
    );
    std::fs::write(machine.folder.path().join(".env"), filled + &around).expect("the settings");
    let check = machine.outcome_of(machine.typed(chime, &["check"])).await;
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));

    let stderr = machine.folder.path().join("stderr");
    let log = std::fs::File::create(&stderr).expect("a file for the log");
    let mut run = machine.typed(chime, &["run"]);
    let shown = log.try_clone().expect("the same file");
    let child = run.stdin(Stdio::null()).stdout(shown).stderr(log).spawn().expect("start chime run");
    let mut daemon = Daemon { child, stderr };
    let shown = machine.shown("/claim ").await;
    let code: String = shown.split("/claim ").nth(1).expect("a code").chars().take(14).collect();
    let private = machine.telegram.add_chat(NewChat::private("Ann"));
    let cursor = machine.telegram.cursor();
    let claiming = Post::new(UserId(private.0), format!("/claim {code}"), Clock::system().now());
    machine.telegram.say(private, claiming);
    let (welcome, _) = machine.telegram.next_sent(cursor).await;
    assert_eq!(welcome.chat, private);
    let check = machine.outcome_of(machine.typed(chime, &["check"])).await;
    let actual = String::from_utf8_lossy(&check.stdout).into_owned();
    assert!(!actual.contains("there is no owner"), "{actual}");
    assert_eq!(daemon.stop().await, Some(0));
}
