//! Operator commands, one file each: arguments, output and exit codes. Start at [`main`].

mod arguments;
mod chats;
mod check;
mod copy;
mod daemon;
mod database;
pub mod demo;
pub mod exit;
mod explain;
mod import;
mod mcp;
mod memory;
pub mod progress;
mod read_document;
mod retry;

pub use arguments::{ChimeArguments, Command};
pub use exit::{CommandError, CommandResult, Exit};

use clap::Parser;

/// Parses the command line, runs the command, and returns the exit code.
pub fn main() -> Exit {
    start(|arguments: ChimeArguments| async {
        let done = match arguments.command {
            Command::Run => daemon::run().await,
            Command::Demo(options) => demo::run(options).await,
            Command::Explain(options) => explain::run(options).await,
            Command::Check(options) => check::run(options).await,
            Command::Retry(options) => retry::run(&options),
            Command::Chats(options) => chats::run(options).await,
            Command::Memory(options) => memory::run(options).await,
            Command::Mcp(options) => mcp::run(options).await,
            Command::Backup(options) => copy::back_up(options).await,
            Command::Restore(options) => copy::restore(options).await,
            Command::Import(options) => import::import(options).await,
            Command::Export(options) => import::export(options).await,
            Command::ReadDocument => read_document::run(),
        };
        done.unwrap_or_else(|error| error.report())
    })
}

/// Parses the arguments of a program and runs it. Returns the exit code.
pub fn start<A: Parser, F: Future<Output = Exit>>(run: impl FnOnce(A) -> F) -> Exit {
    let arguments = match A::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Requests for help or the version arrive as errors too. clap prints each to the right stream.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            let _ = error.print();
            return exit;
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::report(&error, Exit::Failed),
    };
    // Boxed, since tokio compiles a copy of an unboxed future for each way of running it.
    let exit = runtime.block_on(Box::pin(run(arguments)));
    // Does not wait for a read of standard input that may still be blocked.
    runtime.shutdown_background();
    exit
}

/// Number of worker threads. Tasks mostly wait for the network or the disk, so more threads would only cost memory.
const WORKERS: usize = 2;
