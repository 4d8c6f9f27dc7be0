//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::eval::Selector;

/// A Telegram group member that answers about the conversation at hand.
#[derive(Debug, Parser)]
#[command(
    version,
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
        after_help = "Examples:\n  chime explain -1001234567890 42\n  chime explain https://t.me/c/1234567890/42 --json"
    )]
    Explain(ExplainOptions),
    /// Measure how well messages are chosen, on packs whose answers are known
    #[command(subcommand)]
    Eval(EvalCommand),
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Choosing the messages that a trigger is about
    #[command(after_help = "Example:\n  chime eval context tests/data/pack --selector seed")]
    Context(EvalContextOptions),
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
    /// Write one JSON line per query: what was selected, and a longer ranking
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
  echo '@bot thoughts?' | chime demo --json";

#[derive(Debug, Args)]
pub struct DemoOptions {
    /// A chat to open with, instead of the bundled one
    pub file: Option<PathBuf>,
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
    /// One JSON object, for scripts
    #[arg(long)]
    pub json: bool,
}
