//! Runs of the import, one after the other.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chime_core::{ChatId, EntityKind, MessageId};
use chime_runtime::clock::Clock;
use chime_sandbox::{ChatMemberStatus, NewChat, Post, Sandbox, Setup};
use chime_store::{Store, chats, messages};
use chime_testkit::{Export, ModelServer, Reply};

use crate::process::{Process, Surroundings};
use crate::{Arguments, Outcome, written};

/// Interval for measuring a running import.
const LOOK: Duration = Duration::from_millis(20);
/// Largest growth of memory between a quarter of the run and its end.
const FLAT: f64 = 1.15;
const WANTED_PER_SECOND: f64 = 20_000.0;
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

struct Rig<'a> {
    arguments: &'a Arguments,
    telegram: Sandbox,
    model: ModelServer,
    clock: Clock,
    chat: ChatId,
    folder: tempfile::TempDir,
}

/// Result of an import.
struct Imported {
    seconds: f64,
    /// Resident memory at each measurement.
    memory_mb: Vec<f64>,
    told: String,
    code: Option<i32>,
}

/// Runs everything and returns the failed expectations.
pub async fn run(arguments: &Arguments) -> Outcome<Vec<String>> {
    let rig = Rig::set(arguments).await?;
    let mut wrong = Vec::new();
    let export = Export {
        chat: -1_000_000_000_000 - rig.chat.0,
        kind: "private_supergroup",
        messages: arguments.messages,
        until: rig.clock.now(),
    };
    let file = rig.folder.path().join("result.json");
    written::write(&export, &file)?;
    let megabytes = std::fs::metadata(&file)?.len() as f64 / 1e6;
    println!("export: {} messages, {megabytes:.0} MB", export.messages);
    rig.whole(&export, &file, &mut wrong).await?;
    rig.killed(&export, &file, &mut wrong).await?;
    rig.unusable(&file, &mut wrong).await?;
    rig.ask(&export, &mut wrong).await?;
    Ok(wrong)
}

impl<'a> Rig<'a> {
    async fn set(arguments: &'a Arguments) -> Outcome<Self> {
        let clock = Clock::system();
        let telegram = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() }).await?;
        let model = ModelServer::start(clock.clone()).await?;
        let chat = telegram.add_chat(NewChat::supergroup("Friday table").with_bot(ChatMemberStatus::Member));
        std::fs::create_dir_all(&arguments.folder)?;
        let folder = tempfile::Builder::new().prefix("chime-import-").tempdir_in(&arguments.folder)?;
        Ok(Self { arguments, telegram, model, clock, chat, folder })
    }

    fn database(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Imports without interruption, then again.
    async fn whole(&self, export: &Export, file: &Path, wrong: &mut Vec<String>) -> Outcome<()> {
        let once = self.import("whole.db", file).await?;
        let rate = export.messages as f64 / once.seconds;
        let quarter = once.memory_mb.get(once.memory_mb.len() / 4).copied().unwrap_or_default();
        let most = once.memory_mb.iter().copied().fold(0.0, f64::max);
        println!("import: {:.1} s, {rate:.0} messages a second", once.seconds);
        println!("memory: {quarter:.0} MB after a quarter, {most:.0} MB at most");
        check(wrong, once.code == Some(0), || format!("the import ended with {:?}: {}", once.code, once.told));
        check(wrong, rate >= WANTED_PER_SECOND, || format!("{rate:.0} messages a second"));
        check(wrong, most <= quarter * FLAT, || format!("memory grew from {quarter:.0} to {most:.0} MB"));
        let bytes = std::fs::metadata(self.database("whole.db"))?.len();
        println!("database: {:.2} MB for 10,000 messages", bytes as f64 / 1e6 * 10_000.0 / export.messages as f64);
        let again = self.import("whole.db", file).await?;
        println!("again: {:.1} s", again.seconds);
        check(wrong, again.told.contains(" 0 imported"), || format!("a second run: {}", again.told));
        let kept = self.kept("whole.db").await?;
        check(wrong, kept == export.messages, || format!("{kept} messages are kept"));
        Ok(())
    }

    /// Kills an import half-way, resumes and repeats it, and compares the result with the uninterrupted import.
    async fn killed(&self, export: &Export, file: &Path, wrong: &mut Vec<String>) -> Outcome<()> {
        let mut first = self.command("killed.db", &["import", &file.display().to_string()])?;
        while !self.database("killed.db").exists() || self.kept("killed.db").await.unwrap_or(0) < export.messages / 2 {
            self.clock.sleep(LOOK).await;
            if first.try_wait()?.is_some() {
                return Err("the import ended before it could be killed".into());
            }
        }
        first.kill()?;
        first.wait()?;
        let half = self.kept("killed.db").await?;
        let rest = self.import("killed.db", file).await?;
        println!("killed after {half}, the rest in {:.1} s", rest.seconds);
        check(wrong, rest.code == Some(0), || format!("going on ended with {:?}: {}", rest.code, rest.told));
        let again = self.import("killed.db", file).await?;
        check(wrong, again.told.contains(" 0 imported"), || format!("after going on: {}", again.told));
        let kept = self.kept("killed.db").await?;
        check(wrong, kept == export.messages, || format!("{kept} messages are kept after going on"));
        let same = self.exported("killed.db")? == self.exported("whole.db")?;
        check(wrong, same, || "what is kept differs from an import that was not killed".to_owned());
        Ok(())
    }

    /// Imports a truncated file and one that is no export.
    async fn unusable(&self, file: &Path, wrong: &mut Vec<String>) -> Outcome<()> {
        let cut = self.folder.path().join("cut.json");
        std::fs::copy(file, &cut)?;
        File::options().write(true).open(&cut)?.set_len(std::fs::metadata(file)?.len() / 3)?;
        let told = self.import("killed.db", &cut).await?;
        check(wrong, told.code == Some(1) && told.told.contains("breaks off or is damaged"), || told.told.clone());
        std::fs::write(&cut, "{\"hello\": [1, 2, 3]}")?;
        let told = self.import("killed.db", &cut).await?;
        check(wrong, told.code == Some(1) && told.told.contains("no Telegram Desktop export"), || told.told.clone());
        let same = self.exported("killed.db")? == self.exported("whole.db")?;
        check(wrong, same, || "a file that cannot be read changed what is kept".to_owned());
        Ok(())
    }

    /// Starts the daemon on the imported database and asks in the chat.
    async fn ask(&self, export: &Export, wrong: &mut Vec<String>) -> Outcome<()> {
        let (chat, decision) = (self.chat, MessageId(written::decision(export)));
        let store = Store::open_to_read(&self.database("killed.db"))?;
        let seq = store.read(move |conn| messages::find(conn, chat, decision)).await?.ok_or("no decision")?.seq;
        let database = self.database("killed.db");
        let daemon = Process::spawn(
            &self.arguments.program,
            Surroundings {
                telegram: &self.telegram,
                model: &self.model,
                folder: self.folder.path(),
                database: &database,
                log: File::create(self.folder.path().join("log"))?,
                settings: &[],
            },
        )?;
        let announced = self.telegram.next_sent(self.telegram.cursor());
        let (told, cursor) = tokio::time::timeout(PATIENCE, announced).await.map_err(|_| "the chat is not told")?;
        check(wrong, told.text.contains("older messages"), || format!("the chat is told: {}", told.text));
        self.model.always(Reply::text(format!("The blue one [source: m{seq}].")));
        let ana = self.telegram.add_member(chat, "Ana");
        let watch = self.clock.stopwatch();
        self.telegram.say(chat, Post::new(ana, written::QUESTION, self.clock.now()));
        let answered = self.telegram.next_sent(cursor);
        let (answer, _) = tokio::time::timeout(PATIENCE, answered).await.map_err(|_| "no answer")?;
        let (elapsed, resident) = (watch.elapsed().as_millis(), daemon.resident_mb()?);
        let processor = daemon.processor_ms()? / 1e3;
        println!(
            "answered after {elapsed} ms; {resident:.0} MB resident, {processor:.1} s of processor since the start"
        );
        let asked = |prompt: &serde_json::Value| prompt.to_string().contains(written::DECISION);
        check(wrong, self.model.requests().iter().any(asked), || "the prompt lacks the decision".to_owned());
        let end = format!("/{decision}");
        let leads_there = |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&end));
        let is_linked = answer.entities.iter().any(|entity| leads_there(&entity.kind));
        check(wrong, is_linked, || format!("no link to the decision: {}", answer.text));
        Ok(())
    }

    async fn import(&self, database: &str, file: &Path) -> Outcome<Imported> {
        let watch = self.clock.stopwatch();
        let mut child = self.command(database, &["import", &file.display().to_string()])?;
        let mut memory_mb = Vec::new();
        let code = loop {
            memory_mb.extend(resident_mb(child.id()));
            match child.try_wait()? {
                Some(status) => break status.code(),
                None => self.clock.sleep(LOOK).await,
            }
        };
        let seconds = watch.elapsed().as_secs_f64();
        let told = std::fs::read_to_string(self.folder.path().join("told"))?;
        Ok(Imported { seconds, memory_mb, told, code })
    }

    fn command(&self, database: &str, arguments: &[&str]) -> Outcome<Child> {
        let told = File::create(self.folder.path().join("told"))?;
        Ok(Command::new(&self.arguments.program)
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("TELEGRAM_API_URL", self.telegram.api_url())
            .env("TELEGRAM_BOT_TOKEN", self.telegram.token())
            .env("DATABASE_PATH", self.database(database))
            .env("ALLOWED_CHATS", "*")
            .stdin(Stdio::null())
            .stdout(told.try_clone()?)
            .stderr(told)
            .spawn()?)
    }

    fn exported(&self, database: &str) -> Outcome<Vec<u8>> {
        let output = Command::new(&self.arguments.program)
            .args(["export", &self.chat.0.to_string()])
            .current_dir(self.folder.path())
            .env_clear()
            .env("DATABASE_PATH", self.database(database))
            .output()?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }

    async fn kept(&self, database: &str) -> Outcome<i64> {
        let store = Store::open_to_read(&self.database(database))?;
        let chat = self.chat;
        let count = store.read(move |conn| {
            let Some(row) = chats::find(conn, chat)? else { return Ok(0) };
            let sql = "SELECT count(*) FROM message WHERE chat_key = ?1";
            Ok(conn.query_row(sql, [row.key.0], |found| found.get(0))?)
        });
        Ok(count.await?)
    }
}

fn check(wrong: &mut Vec<String>, holds: bool, otherwise: impl FnOnce() -> String) {
    if !holds {
        wrong.push(otherwise());
    }
}

/// Returns `None` once the process has ended.
fn resident_mb(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<f64>().ok()? / 1024.0)
}
