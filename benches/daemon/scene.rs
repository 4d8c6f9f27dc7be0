//! Surroundings of the daemon: a Telegram, a model, a group with messages, and a folder for the database.

use std::path::{Path, PathBuf};

use chime_core::{ChatId, MessageId, UserId};
use chime_eval::synthetic;
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Post, Sandbox, Setup};
use chime_testkit::ModelServer;
use tempfile::TempDir;

use crate::Outcome;

const PEOPLE: [&str; 6] = ["Ana", "Ben", "Cleo", "Dan", "Eve", "Finn"];
const CHATTER: [&str; 8] = [
    "Shall we try the Thai place on Friday?",
    "I was there in spring, the noodles are great but it gets loud after eight.",
    "how many are we now?",
    "Seven, if Katya comes. She said she will know tomorrow.",
    "The train from Tartu comes in at 18:40, so not before seven please",
    "ok, I can call them and ask for the round table",
    "Does anybody still have the charger I left at your place last week?",
    "here: https://example.org/menu?lang=en",
];

/// Returns the words of the search with a number.
type SearchWords = fn(u64) -> String;

/// Searches of the synthetic messages: what they look for, and the words of the one with a number.
pub const SEARCHES: [(&str, SearchWords); 8] = [
    ("  /search: a rare word and a common one", |number| format!("{} {}", rare(number), common(number))),
    ("  /search: a rare word", rare),
    ("  /search: a common word", common),
    ("  /search: three common words", |number| {
        format!("{} {} {}", common(number), common(number + 1), common(number + 2))
    }),
    ("  /search: a word by a member", |number| format!("{} from:{}", common(number), number % 40)),
    ("  /search: a word since a day", |number| format!("{} since:2020-01-01", common(number))),
    ("  /search: a word with a link", |number| format!("{} has:link", common(number))),
    ("  /search: a word that nobody wrote", |number| format!("zzz{number}")),
];

fn rare(number: u64) -> String {
    synthetic::word(number * 997 % synthetic::WORDS)
}

fn common(number: u64) -> String {
    synthetic::word(number % 50)
}

pub struct Scene {
    pub telegram: Sandbox,
    pub model: ModelServer,
    pub clock: Clock,
    pub chat: ChatId,
    people: Vec<UserId>,
    folder: TempDir,
}

impl Scene {
    pub async fn set(within: &Path) -> Outcome<Self> {
        let clock = Clock::system();
        let telegram = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() }).await?;
        let model = ModelServer::start(clock.clone()).await?;
        model.always("They settled on the Thai place, Friday at seven [m1].");
        let chat = telegram.add_chat(NewChat::supergroup("Friday table"));
        let people = PEOPLE.iter().map(|name| telegram.add_member(chat, *name)).collect();
        std::fs::create_dir_all(within)?;
        let folder = tempfile::Builder::new().prefix("chime-bench-").tempdir_in(within)?;
        Ok(Self { telegram, model, clock, chat, people, folder })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("chime.db")
    }

    /// Returns a plain message of the group; the same `number` gives the same message.
    pub fn line(&self, number: usize) -> Post {
        let from = self.people[number % self.people.len()];
        Post::new(from, format!("{} ({number})", CHATTER[number % CHATTER.len()]), self.clock.now())
    }

    /// Mentions the bot.
    pub fn mention(&self, number: usize) -> Post {
        Post::new(self.people[number % self.people.len()], "@bot what did we settle on?", self.clock.now())
    }

    /// Sends a command.
    pub fn command(&self, number: usize, text: String) -> Post {
        Post::new(self.people[number % self.people.len()], text, self.clock.now())
    }

    /// Posts messages, so that there is a history to choose from.
    pub fn talk(&self, lines: usize) -> Vec<MessageId> {
        self.telegram.say_many(self.chat, (0..lines).map(|number| self.line(number)))
    }
}
