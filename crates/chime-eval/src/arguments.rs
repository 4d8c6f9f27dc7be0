//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::Selector;
use crate::baselines::Retriever;
use crate::recall::RankingUnit;

/// Measures how well and how fast Chime works, on chats whose answers are known.
#[derive(Debug, Parser)]
#[command(name = "chime-eval", version)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: EvalCommand,
}

#[derive(Debug, Subcommand)]
pub enum EvalCommand {
    /// Measure the choice of messages that a trigger is about
    #[command(after_help = "Example:\n  chime-eval context tests/data/groups --selector seed")]
    Context(EvalContextOptions),
    /// Measure the search for old messages and sessions
    #[command(after_help = "Example:\n  chime-eval recall tests/data/groups --scope session --retriever bm25")]
    Recall(EvalRecallOptions),
    /// Ask a real model questions about made-up chats, through the daemon and with a plain prompt
    #[command(
        after_help = "Needs a model server; settings such as CONTEXT_TOKENS come from the environment, and memory and limits are \
                      off unless set there.\n\n\
                      Examples:\n  chime-eval answers --url http://127.0.0.1:8091/v1 --model local\n  \
                      chime-eval answers data/answers --url http://127.0.0.1:8091/v1 --model local --only bare,reply --verbose"
    )]
    Answers(EvalAnswersOptions),
    /// Play a day of a made-up group with a real model, memory and recaps included
    #[command(after_help = "Needs a model server; settings come from the environment.\n\n\
                      Example:\n  chime-eval day --url http://127.0.0.1:8091/v1 --model local --json calls.json")]
    Day(EvalDayOptions),
    /// Measure speed in made-up chats, in a temporary database
    #[command(
        after_help = "Example:\n  chime-eval speed --messages 100k\n  chime-eval speed --messages 10k,100k,1m --plot"
    )]
    Speed(EvalSpeedOptions),
}

/// Model server to measure.
#[derive(Debug, Args)]
pub struct EvalServer {
    /// Base URL of the model server
    #[arg(long)]
    pub url: String,
    /// Name of the model on that server
    #[arg(long)]
    pub model: String,
}

#[derive(Debug, Args)]
pub struct EvalDayOptions {
    /// Messages of the day, a line each: `HH:MM Name[ > number]: text`
    #[arg(value_name = "FILE", default_value = "data/day/garden.txt")]
    pub day: PathBuf,
    #[command(flatten)]
    pub server: EvalServer,
    /// Write all requests and answers of the model to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct EvalAnswersOptions {
    /// Case files, or folders that contain them
    #[arg(value_name = "FILE|FOLDER", default_value = "data/answers")]
    pub cases: Vec<PathBuf>,
    #[command(flatten)]
    pub server: EvalServer,
    /// Only cases with these ids or of these kinds
    #[arg(long, value_name = "ID|KIND,...", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do not ask the model with a plain prompt
    #[arg(long)]
    pub no_plain: bool,
    /// Write all answers, judgements and figures to a file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print each question with its answers
    #[arg(long)]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct EvalSpeedOptions {
    /// Messages in the database, such as 10k or 1m; several sizes are measured one after the other
    #[arg(long, value_name = "N,...", value_parser = count::<u32>, value_delimiter = ',', default_value = "100k")]
    pub messages: Vec<u32>,
    /// Also measure recall in this many sessions of ten messages, such as 50k, each with summary, tags and vectors
    #[arg(long, value_name = "N", value_parser = count::<u32>)]
    pub sessions: Option<u32>,
    /// Number of chats for these sessions
    #[arg(long, value_name = "N", value_parser = count::<u32>, default_value = "1", requires = "sessions")]
    pub chats: u32,
    /// Plot the costs by size as bars
    #[arg(long, conflicts_with = "json")]
    pub plot: bool,
    /// Print one JSON line for each size, without a table
    #[arg(long)]
    pub json: bool,
}

/// Parses `10k`, `1m` or plain digits.
pub fn count<T: TryFrom<u32>>(written: &str) -> Result<T, String> {
    let (digits, unit) = match written.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => written.strip_suffix(['m', 'M']).map_or((written, 1), |digits| (digits, 1_000_000)),
    };
    let number = digits.parse::<u32>().ok().and_then(|number| T::try_from(number.checked_mul(unit)?).ok());
    number.ok_or_else(|| "a number like 50k or 1m".to_owned())
}

/// Packs to measure, and where the results go.
#[derive(Debug, Args)]
pub struct EvalOutput {
    /// Folders with messages.jsonl and queries.jsonl
    #[arg(required = true, value_name = "PACK")]
    pub packs: Vec<PathBuf>,
    /// Write one JSON line per query with the selection and a longer ranking
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,
    /// Print one JSON object with all figures
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct EvalContextOptions {
    /// Selector to run
    #[arg(long, value_enum, default_value = "chime")]
    pub selector: Selector,
    /// Most messages that a selector may take; further ones do not count
    #[arg(long, default_value_t = 20)]
    pub k: usize,
    /// Token budget for the messages in the prompt
    #[arg(long, default_value_t = 1600)]
    pub tokens: usize,
    #[command(flatten)]
    pub output: EvalOutput,
}

#[derive(Debug, Args)]
pub struct EvalRecallOptions {
    /// Items to rank
    #[arg(long, value_enum, default_value = "turn")]
    pub scope: RankingUnit,
    /// Retriever to run
    #[arg(long, value_enum, default_value = "fitted")]
    pub retriever: Retriever,
    /// Number of top ranks that count as selected
    #[arg(long, default_value_t = 20)]
    pub k: usize,
    #[command(flatten)]
    pub output: EvalOutput,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_packs_that_examples_name_are_here() {
        let mut program = Arguments::command();
        for name in ["context", "recall"] {
            let help = program.find_subcommand_mut(name).unwrap().render_long_help().to_string();
            let pack = help.split_whitespace().find(|word| word.starts_with("tests/")).unwrap();
            assert!(
                std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("../..")
                    .join(pack)
                    .join("queries.jsonl")
                    .exists(),
                "{pack}"
            );
        }
    }
}
