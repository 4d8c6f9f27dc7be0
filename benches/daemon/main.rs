//! Measures the speed and the memory of the daemon from outside.
//!
//! The real binary runs as a separate process with a database on a real disk, between an embedded Telegram and a model
//! that answers at once. Nothing passes or fails: the benchmark prints figures with their baselines.
//!
//! `cargo bench --bench daemon -- --help`

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod bare;
mod daemon;
mod figures;
mod filled;
mod flood;
mod measure;
#[path = "../rig/process.rs"]
mod process;
mod scene;

use std::path::PathBuf;

use chime_eval::arguments::count;
use clap::Parser;

use crate::daemon::Daemon;
use crate::figures::{Figures, Filled, Flood};
use crate::measure::Answered;
use crate::scene::{SEARCHES, Scene};

/// Measures the daemon: latency, throughput, memory and start.
#[derive(Debug, Parser)]
struct Arguments {
    /// Measure also with this many messages in the database: 200k, 1m
    #[arg(long, value_name = "N", value_parser = count::<usize>)]
    messages: Option<usize>,
    /// Number of mentions to answer, one after the other
    #[arg(long, default_value_t = 300)]
    mentions: usize,
    /// Number of messages to store for the throughput
    #[arg(long, value_name = "N", value_parser = count::<usize>, default_value = "50k")]
    updates: usize,
    /// Measure only the memory in a flood of long messages
    #[arg(long)]
    flood: bool,
    /// Print one JSON line instead of the table
    #[arg(long)]
    json: bool,
    /// Folder for the databases, on the disk to measure
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    folder: PathBuf,
    /// Program to measure
    #[arg(long, default_value = env!("CARGO_BIN_EXE_chime"))]
    program: PathBuf,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Reason for ending the benchmark early.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome<()> {
    let arguments = Arguments::parse();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let figures = measure_all(&arguments).await?;
    if !arguments.json {
        println!("{}", figures.table());
    }
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure_all(arguments: &Arguments) -> Outcome<Figures> {
    if arguments.flood {
        return Ok(Figures { flood: Some(flooded(arguments).await?), ..Figures::default() });
    }
    let mut figures = answering(arguments).await?;
    figures.bare = bare::replies(arguments.mentions).await?;
    (figures.updates_per_s, figures.after_10k_mb) = taking_in(arguments).await?;
    if let Some(messages) = arguments.messages {
        figures.filled = Some(with_history(arguments, messages).await?);
    }
    figures.flood = Some(flooded(arguments).await?);
    Ok(figures)
}

/// Measures a new database: start, memory when idle, and mentions one after the other.
async fn answering(arguments: &Arguments) -> Outcome<Figures> {
    let scene = Scene::set(&arguments.folder).await?;
    let daemon = Daemon::start(&arguments.program, &scene).await?;
    let (idle_mb, started_ms) = (daemon.process.resident_mb()?, daemon.process.processor_ms()?);
    let Answered { reply, sync } = measure::replies(&scene, arguments.mentions, Scene::mention).await?;
    Ok(Figures {
        reply,
        sync,
        processor_ms: (daemon.process.processor_ms()? - started_ms) / arguments.mentions as f64,
        start_ms: daemon.start_ms,
        idle_mb,
        program_mb: measure::megabytes(std::fs::metadata(&arguments.program)?.len()),
        ..Figures::default()
    })
}

/// Measures many messages at once in a new database, as after downtime.
async fn taking_in(arguments: &Arguments) -> Outcome<(f64, f64)> {
    let scene = Scene::set(&arguments.folder).await?;
    let daemon = Daemon::start(&arguments.program, &scene).await?;
    measure::updates_per_s(&scene, 10_000).await;
    let after_10k_mb = daemon.process.resident_mb()?;
    Ok((measure::updates_per_s(&scene, arguments.updates).await, after_10k_mb))
}

/// Measures a flood of long messages in a new database.
async fn flooded(arguments: &Arguments) -> Outcome<Flood> {
    let scene = Scene::set(&arguments.folder).await?;
    let daemon = Daemon::start(&arguments.program, &scene).await?;
    flood::flood(&scene, &daemon).await
}

/// Measures a database with older messages.
async fn with_history(arguments: &Arguments, messages: usize) -> Outcome<Filled> {
    let scene = Scene::set(&arguments.folder).await?;
    filled::fill(&scene, messages).await?;
    let daemon = Daemon::start(&arguments.program, &scene).await?;
    let Answered { reply, sync } = measure::replies(&scene, arguments.mentions, Scene::mention).await?;
    let mut searches = Vec::new();
    for (name, words) in SEARCHES {
        let search = |scene: &Scene, number| scene.command(number, format!("/search {}", words(number as u64)));
        searches.push((name, measure::replies(&scene, arguments.mentions, search).await?.reply));
    }
    Ok(Filled {
        messages,
        searches,
        start_ms: daemon.start_ms,
        reply,
        sync,
        resident_mb: daemon.process.resident_mb()?,
        database_mb: measure::megabytes(std::fs::metadata(scene.database())?.len()),
    })
}
