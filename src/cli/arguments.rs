//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};

use crate::cli::demo::Bundled;
use crate::config::ContextConfig;
use crate::domain::JobId;
use crate::eval::Selector;
use crate::eval::recall::{Retriever, Scope};

/// With the commit that it was built from, where that is known.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("CHIME_COMMIT_SUFFIX"));

/// A Telegram group member that answers about the conversation at hand.
#[derive(Debug, Parser)]
#[command(
    version = VERSION,
    after_help = "Settings come from the environment and from a file named .env; see .env.example.\n\
                  Try it without any: chime demo"
)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the daemon: read the group, answer when tagged
    #[command(after_help = "Example:\n  TELEGRAM_BOT_TOKEN=… ALLOWED_CHATS=-1001234567890 chime run")]
    Run,
    /// Try it here: a group chat in the terminal, with an embedded Telegram
    #[command(after_help = DEMO_HELP)]
    Demo(DemoOptions),
    /// Show which messages an answer to MESSAGE rests on, and what was left out; no model is called
    #[command(
        after_help = "Examples:\n  chime explain -1001234567890 42\n  chime explain https://t.me/c/1234567890/42 --json\n  \
                      chime explain -1001234567890 42 --with CONTEXT_TOKENS=1500"
    )]
    Explain(ExplainOptions),
    /// Check everything that Chime needs, and say what to do about what is missing
    #[command(
        after_help = "Each line is `ok|warn|FAIL name: what; do: remedy`. Exits with 69 when something fails.\n\n\
                      Examples:\n  chime check\n  chime check --offline --json"
    )]
    Check(CheckOptions),
    /// Try parked jobs again, also while the daemon runs
    #[command(after_help = "Examples:\n  chime retry 17\n  chime retry all")]
    Retry(RetryOptions),
    /// What is remembered of a chat; works while the daemon runs
    Memory(MemoryOptions),
    /// Copy the database to a new file, also while the daemon runs, and check the copy
    #[command(
        after_help = "Nothing is overwritten. DEST may be a folder; the copy is then named by the time (UTC).\n\n\
                      Examples:\n  chime backup /var/backups/chime-before-upgrade.db\n  chime backup /var/backups"
    )]
    Backup(BackupOptions),
    /// Make a checked copy of SRC the database; the daemon must be stopped, and the old file moved away
    #[command(after_help = "Example:\n  chime restore /var/backups/chime-before-upgrade.db")]
    Restore(RestoreOptions),
    /// Read the history from before the bot, out of a Telegram Desktop export; the daemon must be stopped
    #[command(after_help = IMPORT_HELP)]
    Import(ImportOptions),
    /// Write what is kept of a chat as JSON, also while the daemon runs
    #[command(
        after_help = "Nothing of members who opted out is in it. Exits with 0 when it is written, 1 when the chat is not \
                      known, 74 when the database cannot be used.\n\n\
                      Examples:\n  chime export -1001234567890 > table.json\n  chime export -1001234567890 --out table.json"
    )]
    Export(ExportOptions),
    /// Measure how well messages are chosen, on packs whose answers are known
    #[command(subcommand)]
    Eval(EvalCommand),
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Choosing the messages that a trigger is about
    #[command(after_help = "Example:\n  chime eval context tests/data/groups --selector seed")]
    Context(EvalContextOptions),
    /// Finding old messages and sessions for a question
    #[command(after_help = "Example:\n  chime eval recall tests/data/groups --scope session --retriever bm25")]
    Recall(EvalRecallOptions),
    /// Answering questions to made-up chats with a real model, and the same model asked plainly beside it
    #[command(
        after_help = "Needs a model server; settings such as CONTEXT_TOKENS come from the environment, and memory and limits are \
                      off unless set there.\n\n\
                      Examples:\n  chime eval answers --url http://127.0.0.1:8091/v1 --model local\n  \
                      chime eval answers data/answers --url http://127.0.0.1:8091/v1 --model local --only bare,reply --verbose"
    )]
    Answers(EvalAnswersOptions),
    /// How fast it is in made-up chats, in a database of its own
    #[command(
        after_help = "Example:\n  chime eval speed --messages 100k\n  chime eval speed --messages 10k,100k,1m --plot growth.svg"
    )]
    Speed(EvalSpeedOptions),
}

#[derive(Debug, Args)]
pub struct EvalAnswersOptions {
    /// Files of cases, or folders with such
    #[arg(value_name = "FILE|FOLDER", default_value = "data/answers")]
    pub cases: Vec<PathBuf>,
    /// Base address of the model server
    #[arg(long)]
    pub url: String,
    /// The model's name there
    #[arg(long)]
    pub model: String,
    /// Only the cases with these ids or of these kinds
    #[arg(long, value_name = "ID|KIND,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not ask the model plainly beside
    #[arg(long)]
    pub no_plain: bool,
    /// Write all answers, their verdicts and the figures
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print each question with its answers
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct EvalSpeedOptions {
    /// Messages in the database: 10k, 1m; several sizes are measured one after the other
    #[arg(long, value_name = "N,...", value_parser = count, value_delimiter = ',', default_value = "100k")]
    pub messages: Vec<u32>,
    /// Also recall in this many sessions of ten messages, such as 50k, each with summary, tags and vectors
    #[arg(long, value_name = "N", value_parser = count)]
    pub sessions: Option<u32>,
    /// Chats that the sessions are in
    #[arg(long, value_name = "N", value_parser = count, default_value = "1", requires = "sessions")]
    pub chats: u32,
    /// Draw how cost grows from size to size, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Print one JSON line for each size and no table
    #[arg(long)]
    pub json: bool,
}

/// `10k`, `1m`, or plain digits.
fn count(written: &str) -> Result<u32, String> {
    let (digits, unit) = match written.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => written.strip_suffix(['m', 'M']).map_or((written, 1), |digits| (digits, 1_000_000)),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "a number like 50k or 1m".to_owned())
}

#[derive(Debug, Args)]
pub struct EvalContextOptions {
    /// Folders with messages.jsonl and queries.jsonl
    #[arg(required = true, value_name = "PACK")]
    pub packs: Vec<PathBuf>,
    /// Who selects
    #[arg(long, value_enum, default_value = "chime")]
    pub selector: Selector,
    /// Messages that count, and at most are taken
    #[arg(long, default_value_t = 20)]
    pub k: usize,
    /// Tokens of the messages that the prompt shows
    #[arg(long, default_value_t = 1600)]
    pub tokens: usize,
    /// Write one JSON line per query: what was selected, and a longer ranking
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    /// One JSON object of all figures
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EvalRecallOptions {
    /// Folders with messages.jsonl and queries.jsonl
    #[arg(required = true, value_name = "PACK")]
    pub packs: Vec<PathBuf>,
    /// What is ranked
    #[arg(long, value_enum, default_value = "turn")]
    pub scope: Scope,
    /// Who ranks
    #[arg(long, value_enum, default_value = "fitted")]
    pub retriever: Retriever,
    /// Messages that count as selected
    #[arg(long, default_value_t = 20)]
    pub k: usize,
    /// Write one JSON line per question: what was selected, and a longer ranking
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    /// One JSON object of all figures
    #[arg(long)]
    pub json: bool,
}

const DEMO_HELP: &str = "\
Lines that you type:
  @bot thoughts?           you speak; @bot tags the bot
  Ana: the thai place?     speak as Ana (anybody may join this way)
  Ana > 12: which one?     speak as Ana, replying to message 12
  > 12 @bot                reply to message 12 yourself
  > 31 /why                ask what an answer of the bot rested on

A FILE holds one message a line: ID | 2026-03-02 18:40:00 | Ana | REPLIED-TO ID or - | text
Set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL, to hear a model; without, you get a digest.

Examples:
  chime demo
  chime demo --chat books
  echo '@bot thoughts?' | chime demo --json";

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// A chat to open with, instead of a bundled one
    pub file: Option<PathBuf>,
    /// Which bundled chat to open with
    #[arg(long, value_enum, default_value = "friday", conflicts_with = "file")]
    pub chat: Bundled,
    /// One JSON object a line on stdout, for scripts
    #[arg(long)]
    pub json: bool,
    /// Keep the database in this file; by default it is gone at the end
    #[arg(long, value_name = "FILE")]
    pub database: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// The chat's id, or a link to the message
    #[arg(allow_negative_numbers = true)]
    pub chat: String,
    /// The message's id
    #[arg(allow_negative_numbers = true)]
    pub message: Option<i64>,
    /// Decide as if this setting were so; may be given more than once
    #[arg(long = "with", value_name = "KEY=VALUE", value_parser = replayed)]
    pub with: Vec<(String, String)>,
    /// One JSON object, for scripts
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// One JSON object a line, for scripts
    #[arg(long)]
    pub json: bool,
    /// Only what is on this machine: no request to Telegram or the model
    #[arg(long)]
    pub offline: bool,
}

#[derive(Debug, Args)]
pub struct RetryOptions {
    /// The job's number, as `chime check` shows it, or `all`
    #[arg(value_name = "JOB|all")]
    pub job: Retried,
}

const IMPORT_HELP: &str = "\
In Telegram Desktop: open the chat, ⋮, Export chat history, format JSON. The file is result.json; the export of all
chats (Settings, Advanced) will do too. Only chats that the bot may work in are read (ALLOWED_CHATS).

A dry run says the same as the run. A second run adds nothing, and one that was cut short goes on. Nothing that the
bot already knows is doubled.
Each chat is told how many messages were imported, when the daemon starts again.

Exits with 0 when it is done, 1 when the file cannot be read to its end (what stands before is imported), 74 when the
database cannot be used, 75 while the daemon runs, 78 when the configuration is wrong.

Examples:
  chime import result.json --dry-run
  chime import ~/Downloads/ChatExport_2026-03-02/result.json";

#[derive(Debug, Args)]
pub struct ImportOptions {
    /// result.json of an export, or the folder that holds it
    pub file: PathBuf,
    /// Only say what would be imported
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    /// The chat's id
    #[arg(allow_negative_numbers = true)]
    pub chat: i64,
    /// A new file; without, it goes to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct MemoryOptions {
    /// The chat's id
    #[arg(allow_negative_numbers = true)]
    pub chat: i64,
    /// Make this anew, in the background
    #[arg(long, value_name = "recent|history|topic:<slug>|concepts")]
    pub rebuild: Option<Rebuilt>,
}

/// What is made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    Recent,
    History,
    /// The summary of this topic.
    Topic(String),
    /// What is in scope of each talk, from the concepts of the answers there; answers not yet looked through are
    Concepts,
}

impl FromStr for Rebuilt {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        match raw.split_once(':') {
            None if raw == "recent" => Ok(Self::Recent),
            None if raw == "history" => Ok(Self::History),
            None if raw == "concepts" => Ok(Self::Concepts),
            Some(("topic", slug)) if !slug.is_empty() => Ok(Self::Topic(slug.to_owned())),
            None | Some(_) => Err("there are recent, history, topic:<slug> and concepts".to_owned()),
        }
    }
}

#[derive(Debug, Args)]
pub struct BackupOptions {
    /// A new file, or a folder for it
    pub dest: PathBuf,
}

#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// The copy
    pub src: PathBuf,
}

/// Which parked jobs are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retried {
    All,
    One(JobId),
}

impl Retried {
    /// None for all.
    pub fn id(self) -> Option<JobId> {
        match self {
            Self::All => None,
            Self::One(id) => Some(id),
        }
    }
}

impl FromStr for Retried {
    type Err = &'static str;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        match raw {
            "all" => Ok(Self::All),
            number => number.trim_start_matches('#').parse().map(|id| Self::One(JobId(id))).map_err(|_| "no number"),
        }
    }
}

/// `KEY=VALUE` of a setting that the choice of messages depends on.
fn replayed(raw: &str) -> Result<(String, String), String> {
    let keys: Vec<&str> = ContextConfig::KEYS.iter().map(|key| key.name).collect();
    let (key, value) = raw.split_once('=').ok_or("write KEY=VALUE")?;
    if keys.contains(&key) {
        Ok((key.to_owned(), value.to_owned()))
    } else {
        Err(format!("the choice of messages depends on {}", keys.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_packs_that_examples_name_are_here() {
        let mut program = Arguments::command();
        let eval = program.find_subcommand_mut("eval").unwrap();
        for name in ["context", "recall"] {
            let help = eval.find_subcommand_mut(name).unwrap().render_long_help().to_string();
            let pack = help.split_whitespace().find(|word| word.starts_with("tests/")).unwrap();
            assert!(
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(pack).join("queries.jsonl").exists(),
                "{pack}"
            );
        }
    }
}
