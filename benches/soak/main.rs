//! Soak test: runs the real binary as a separate process between an embedded Telegram and a model, under a mixed load,
//! while both fail at times, the database gets locked, and the daemon is killed and stopped.
//!
//! In the end both sides must agree: every message is a row, every trigger has its one visible outcome, nothing is open
//! or parked, and memory is flat. Failed expectations are listed and set the exit code.
//!
//! `cargo bench --bench soak -- --help`

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod kept;
mod ledger;
mod lives;
mod load;
mod memory;
mod mischief;
#[path = "../rig/process.rs"]
mod process;
mod report;
mod stage;
mod verdict;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use chime_runtime::clock::Stopwatch;
use clap::Parser;

use crate::kept::Kept;
use crate::lives::Lives;
use crate::load::Load;
use crate::mischief::Mischief;
use crate::report::Report;
use crate::stage::Stage;

/// Runs the daemon under load with faults, and checks that nothing is lost, doubled or left over.
#[derive(Debug, Parser)]
struct Arguments {
    /// Duration of the load
    #[arg(long, default_value_t = 60.0)]
    minutes: f64,
    /// Seed of the load and the faults; random by default
    #[arg(long)]
    seed: Option<u64>,
    /// Print one JSON line instead of the table
    #[arg(long)]
    json: bool,
    /// Folder for the database, on a real disk
    #[arg(long, default_value = env!("CARGO_TARGET_TMPDIR"))]
    folder: PathBuf,
    /// Program to test
    #[arg(long, default_value = env!("CARGO_BIN_EXE_chime"))]
    program: PathBuf,
    /// Passed by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// Reason for ending the run early.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Interval for performing planned acts.
const TICK: Duration = Duration::from_millis(20);
/// Longest time after the load until all work is done: longer than an answer and than a throttled chat takes.
const DRAINED_WITHIN: Duration = Duration::from_secs(180);
/// Interval of progress lines.
const TELL_EVERY: Duration = Duration::from_mins(1);

#[tokio::main(worker_threads = 2)]
async fn main() -> Outcome<ExitCode> {
    let arguments = Arguments::parse();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let report = soak(&arguments).await?;
    if !arguments.json {
        println!("{}", report.table());
    }
    println!("{}", serde_json::to_string(&report)?);
    for wrong in &report.wrong {
        println!("WRONG: {wrong}");
    }
    Ok(if report.wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn soak(arguments: &Arguments) -> Outcome<Report> {
    let mut stage = Stage::set(&arguments.folder).await?;
    let length = Duration::from_secs_f64(arguments.minutes * 60.0);
    let begin = stage.clock.now();
    let seed = arguments.seed.unwrap_or(begin.millis().unsigned_abs());
    if !arguments.json {
        println!("seed {seed}, database in {}", stage.folder().display());
    }
    let first_update = stage.telegram.latest_update();
    let topics: usize = stage.places.iter().map(|place| place.topics.len()).sum();
    let mut load = Load::new(seed);
    let mut mischief = Mischief::new(seed, begin, length);
    let mut lives = Lives::new(&arguments.program, seed, begin, length);
    let watch = stage.clock.stopwatch();
    let mut told = Duration::ZERO;
    while watch.elapsed() < length {
        let at = watch.elapsed();
        load.step(&stage, at);
        mischief.step(&stage, lives.is_up())?;
        lives.step(&stage, at, mischief.is_locked())?;
        if at >= told + TELL_EVERY && !arguments.json {
            told = at;
            println!(
                "{} min: {} acts, {} updates wait",
                at.as_secs() / 60,
                load.acts,
                stage.telegram.pending_updates()
            );
        }
        stage.clock.sleep(TICK).await;
    }
    mischief.end(&stage)?;
    let drained = drain(&stage, &mut lives, watch).await?;
    lives.finish(&stage).await?;

    let kept = Kept::read(&stage)?;
    let updates = match (first_update, stage.telegram.latest_update()) {
        (Some(first), Some(last)) => usize::try_from(last.0 - first.0)? + topics,
        _ => 0,
    };
    let verdict = verdict::judge(&stage, &load.ledger, &kept, updates);
    let report = report(&stage, (seed, length), verdict, &mischief, &lives, drained)?;
    if !report.wrong.is_empty() {
        stage.keep();
    }
    Ok(report)
}

/// Waits until all work is done, and returns the time it took.
async fn drain(stage: &Stage, lives: &mut Lives<'_>, watch: Stopwatch) -> Outcome<Duration> {
    let drain = stage.clock.stopwatch();
    lives.in_peace();
    while drain.elapsed() < DRAINED_WITHIN {
        lives.step(stage, watch.elapsed(), false)?;
        if lives.is_up() && stage.telegram.pending_updates() == 0 && kept::open_jobs(stage)? == 0 {
            return Ok(drain.elapsed());
        }
        stage.clock.sleep(Duration::from_millis(200)).await;
    }
    lives.wrong.push(format!("not everything was done {} s after the load", DRAINED_WITHIN.as_secs()));
    Ok(drain.elapsed())
}

fn report(
    stage: &Stage,
    (seed, length): (u64, Duration),
    verdict: verdict::Verdict,
    mischief: &Mischief,
    lives: &Lives<'_>,
    drained: Duration,
) -> Outcome<Report> {
    let mut replies = verdict.replies_ms;
    replies.sort_by(f64::total_cmp);
    let at = |share: f64| replies.get((replies.len() as f64 * share) as usize).or(replies.last()).copied();
    let at = |share: f64| at(share).unwrap_or(f64::NAN);
    let log = String::from_utf8_lossy(&std::fs::read(stage.log())?).into_owned();
    let memory = lives.memory.figures();
    let mut wrong = verdict.wrong;
    wrong.extend(lives.wrong.iter().cloned());
    wrong.extend(memory.wrong());
    wrong.extend(log.lines().filter(|line| line.contains("panicked")).map(|line| format!("logged: {line}")));
    Ok(Report {
        seed,
        minutes: length.as_secs_f64() / 60.0,
        counts: verdict.counts,
        faults: mischief.counts.clone(),
        kills: lives.kills,
        stops: lives.stops,
        slowest_stop_s: lives.slowest_stop.as_secs_f64(),
        reply_p50_ms: at(0.5),
        reply_p95_ms: at(0.95),
        slowest_reply_s: at(1.0) / 1000.0,
        drain_s: drained.as_secs_f64(),
        memory,
        database_mb: std::fs::metadata(stage.database())?.len() as f64 / 1024.0 / 1024.0,
        processor_percent: lives.processor_ms / (length + drained).as_secs_f64() / 10.0,
        errors_logged: log.lines().filter(|line| line.contains(r#""level":"ERROR""#)).count(),
        wrong,
    })
}
