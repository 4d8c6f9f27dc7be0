//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};

use crate::cli::demo::Bundled;
use chime_console::rebuild::Rebuilt;
use chime_core::JobId;
use chime_core::config::ContextConfig;

/// Version, with the commit it was built from if that is known.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("CHIME_COMMIT_SUFFIX"));

/// A Telegram group member that answers about the conversation at hand.
#[derive(Debug, Parser)]
#[command(
    version = VERSION,
    after_help = "Settings come from the environment and from a file named .env; see .env.example.\n\
                  Try it without any: chime demo"
)]
pub struct ChimeArguments {
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
    /// Show which messages an answer to MESSAGE is based on, and which were left out; no model is called
    #[command(
        after_help = "Examples:\n  chime explain -1001234567890 42\n  chime explain https://t.me/c/1234567890/42 --json\n  \
                      chime explain -1001234567890 42 --with CONTEXT_TOKENS=1500"
    )]
    Explain(ExplainOptions),
    /// Check everything that Chime needs, and suggest a remedy for each problem
    #[command(
        after_help = "Each line is `ok|warn|FAIL name: what; do: remedy`. Exits with 69 when something fails.\n\n\
                      Examples:\n  chime check\n  chime check --offline --json"
    )]
    Check(CheckOptions),
    /// Retry parked jobs, also while the daemon runs
    #[command(after_help = "Examples:\n  chime retry 17\n  chime retry all")]
    Retry(RetryOptions),
    /// List the chats with their ids, sizes and own settings, also while the daemon runs
    #[command(after_help = "Examples:\n  chime chats\n  chime chats --json")]
    Chats(ChatsOptions),
    /// Show what is remembered of a chat, also while the daemon runs
    Memory(MemoryOptions),
    /// Let an assistant read chats, by the Model Context Protocol (MCP) on standard input and output
    #[command(
        after_help = "Tools: search, read, recap, decisions. Nothing is written, and nothing of members who opted out is returned.\n\n\
                      Example, also while the daemon runs:\n  chime mcp --chat -1001234567890 --chat -1009876543210"
    )]
    Mcp(McpOptions),
    /// Copy the database to a new file, also while the daemon runs, and check the copy
    #[command(
        after_help = "Nothing is overwritten. DEST may be a folder; the copy is then named by the time (UTC).\n\n\
                      Examples:\n  chime backup /var/backups/chime-before-upgrade.db\n  chime backup /var/backups"
    )]
    Backup(BackupOptions),
    /// Make a checked copy of SRC the database, or list the copies; the daemon must be stopped, and the old file moved
    /// away
    #[command(after_help = "Examples:\n  chime restore\n  chime restore /var/backups/chime-before-upgrade.db")]
    Restore(RestoreOptions),
    /// Import older history from a Telegram Desktop export; the daemon must be stopped
    #[command(after_help = IMPORT_HELP)]
    Import(ImportOptions),
    /// Export the stored messages of a chat as JSON, also while the daemon runs
    #[command(
        after_help = "Nothing of members who opted out is in it. Exits with 0 when it is written, 1 when the chat is not \
                      known, 74 when the database cannot be used.\n\n\
                      Examples:\n  chime export -1001234567890 > table.json\n  chime export -1001234567890 --out table.json"
    )]
    Export(ExportOptions),
    /// Read one document for the daemon: request and document on standard input, JSON on standard output
    #[command(hide = true)]
    ReadDocument,
}

const DEMO_HELP: &str = "\
Lines that you type:
  @bot thoughts?           you speak; @bot tags the bot
  Ana: the thai place?     speak as Ana (anybody may join this way)
  Ana > 12: which one?     speak as Ana, replying to message 12
  > 12 @bot                reply to message 12 yourself
  > 31 /why                ask what an answer of the bot rested on
  > 31 !                   press the button below message 31

A FILE holds one message a line: ID | 2026-03-02 18:40:00 | Ana | REPLIED-TO ID or - | text
Its dates are moved so that the last message was sent two minutes ago.
Set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL, to hear a model; without, you get a digest.

Examples:
  chime demo
  chime demo --chat books
  echo '@bot thoughts?' | chime demo --json";

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// Chat file to open, instead of a bundled chat
    pub file: Option<PathBuf>,
    /// Bundled chat to open
    #[arg(long, value_enum, default_value = "friday", conflicts_with = "file")]
    pub chat: Bundled,
    /// Print one JSON object per line, for scripts
    #[arg(long)]
    pub json: bool,
    /// Database file to keep; by default the database is deleted at the end
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
    /// Decide as if this setting had this value; may be given more than once
    #[arg(long = "with", value_name = "KEY=VALUE", value_parser = replayed)]
    pub with: Vec<(String, String)>,
    /// Print one JSON object, for scripts
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct CheckOptions {
    /// Print one JSON object per line, for scripts
    #[arg(long)]
    pub json: bool,
    /// Check this machine only, without requests to Telegram or the model
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
    /// Only show the result of an import, without writing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ExportOptions {
    /// The chat's id
    #[arg(allow_negative_numbers = true)]
    pub chat: i64,
    /// New file for the export; by default it goes to standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ChatsOptions {
    /// One JSON object a line, for scripts
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct MemoryOptions {
    /// The chat's id
    #[arg(allow_negative_numbers = true)]
    pub chat: i64,
    /// Part of the memory to rebuild in the background
    #[arg(long, value_name = "recent|history|topic:<slug>|concepts")]
    pub rebuild: Option<Rebuilt>,
}

#[derive(Debug, Args)]
pub struct McpOptions {
    /// Id of a chat that may be read; may be given more than once
    #[arg(long = "chat", value_name = "ID", required = true, allow_negative_numbers = true)]
    pub chats: Vec<i64>,
}

#[derive(Debug, Args)]
pub struct BackupOptions {
    /// New file, or a folder for it
    pub dest: PathBuf,
}

#[derive(Debug, Args)]
pub struct RestoreOptions {
    /// Copy to restore; without it, the automatic copies are listed
    pub src: Option<PathBuf>,
}

/// Choice of the parked jobs to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retried {
    All,
    One(JobId),
}

impl Retried {
    /// Returns the number of the job, or `None` for all jobs.
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

/// Parses `KEY=VALUE`. Accepts only settings that influence the choice of messages.
fn replayed(raw: &str) -> Result<(String, String), String> {
    let keys: Vec<&str> = ContextConfig::KEYS.iter().map(|key| key.name).collect();
    let (key, value) = raw.split_once('=').ok_or("write KEY=VALUE")?;
    if keys.contains(&key) {
        Ok((key.to_owned(), value.to_owned()))
    } else {
        Err(format!("the choice of messages depends on {}", keys.join(", ")))
    }
}
