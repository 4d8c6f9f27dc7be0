//! Runs a large Telegram Desktop export through `chime import`, as a separate process, and measures speed and memory.
//! Kills and resumes it, repeats it, tries damaged and foreign files, and finally asks a question in the chat whose
//! answer is far back in the history.
//!
//! Failed expectations are listed and set the exit code. `cargo bench --bench import -- --help`

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../rig/process.rs"]
mod process;
mod run;
mod written;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Imports a large export in every way that an operator may, and measures it.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Number of messages in the export
    #[arg(long, default_value_t = 200_000)]
    messages: i64,
    /// Folder for all files, on a real disk
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    folder: PathBuf,
    /// Program to measure
    #[arg(long, default_value = env!("CARGO_BIN_EXE_chime"))]
    program: PathBuf,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let outcome = runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(run::run(&arguments)));
    match outcome {
        Ok(wrong) if wrong.is_empty() => ExitCode::SUCCESS,
        Ok(wrong) => {
            wrong.iter().for_each(|line| println!("WRONG: {line}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
