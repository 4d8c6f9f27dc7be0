//! Surroundings of the daemon: a Telegram with chats of every kind, a model, and a folder for the database.

use std::path::{Path, PathBuf};

use chime_core::{ChatId, ForumTopicId, UserId};
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Sandbox, Setup};
use chime_testkit::{ModelServer, Reply};
use serde_json::Value;
use tempfile::TempDir;

use crate::Outcome;

const PEOPLE: [&str; 8] = ["Ana", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gil", "Hana"];
/// Members who opt out and in again. They are in groups only: in private an opt-out covers every chat.
const FICKLE: [&str; 2] = ["Olga", "Pavel"];
const TOPICS: [&str; 3] = ["Routes", "Gear", "Photos"];

pub struct Stage {
    pub telegram: Sandbox,
    pub model: ModelServer,
    pub clock: Clock,
    pub places: Vec<Place>,
    pub fickle: Vec<UserId>,
    folder: TempDir,
}

/// Chat and its members.
pub struct Place {
    pub chat: ChatId,
    pub people: Vec<UserId>,
    /// Forum topics; empty if there are none.
    pub topics: Vec<ForumTopicId>,
    pub is_private: bool,
    /// Share of the messages sent here, per thousand.
    pub share: u64,
}

impl Stage {
    pub async fn set(within: &Path) -> Outcome<Self> {
        let clock = Clock::system();
        let telegram = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() }).await?;
        let model = ModelServer::start(clock.clone()).await?;
        model.improvise(written);
        let mut fickle = Vec::new();
        let mut places = Vec::new();
        for (new, share) in [
            (NewChat::forum("Walking club"), 330),
            (NewChat::supergroup("Friday table").public("friday_table"), 330),
            (NewChat::group("Neighbours"), 322),
            (NewChat::private("Ana"), 9),
            (NewChat::private("Ben"), 9),
        ] {
            let is_private = new.kind == chime_core::ChatKind::Private;
            let chat = telegram.add_chat(new.clone());
            let people = match is_private {
                true => vec![UserId(chat.0)],
                false => PEOPLE.iter().map(|name| telegram.add_member(chat, *name)).collect(),
            };
            if !is_private {
                fickle = FICKLE.iter().map(|name| telegram.add_member(chat, *name)).collect();
            }
            let topics = match new.forum {
                true => TOPICS.iter().map(|name| telegram.create_topic(chat, name)).collect(),
                false => Vec::new(),
            };
            places.push(Place { chat, people, topics, is_private, share });
        }
        std::fs::create_dir_all(within)?;
        let folder = tempfile::Builder::new().prefix("chime-soak-").tempdir_in(within)?;
        Ok(Self { telegram, model, clock, places, fickle, folder })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("chime.db")
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("chime.log")
    }

    /// Keeps the folder, for inspection.
    pub fn keep(&mut self) {
        self.folder.disable_cleanup(true);
    }
}

/// Returns a plausible model reply: an answer, tags as JSON, or bullets of the lines to summarize.
fn written(request: &Value) -> Reply {
    if request["response_format"]["json_schema"]["name"] == "tags" {
        return Reply::text(r#"{"tags":[{"tag":"friday-table","conf":0.9},{"tag":"boat-shed","conf":0.7}]}"#);
    }
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let words = |one: Option<&Value>| one.and_then(|one| one["content"].as_str()).unwrap_or_default().to_owned();
    let (task, shown) = (words(messages.first()), words(messages.last()));
    let sums_up = ["Summarize", "From these mini summaries"].iter().any(|beginning| task.starts_with(beginning));
    let bullets: Vec<String> = shown.lines().filter(|_| sums_up).filter_map(bullet).take(8).collect();
    match bullets.is_empty() {
        true => Reply::text("They settled on the Thai place, **Friday at seven** [m1]."),
        false => Reply::text(bullets.join("\n")),
    }
}

/// Converts a line of the prompt, `[m4 · …] text`, into a bullet with its source.
fn bullet(line: &str) -> Option<String> {
    let (head, text) = line.trim().strip_prefix("[m")?.split_once("] ")?;
    let number: u32 = head.split(' ').next()?.parse().ok()?;
    Some(format!("- {text} [m{number}]"))
}
