//! Kills or stops the daemon every few minutes and starts it again a moment later.
//!
//! The second and the fourth quarter each have one process without interruption, so that memory is compared at equal
//! process ages, half of the run apart.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use chime_core::Timestamp;
use chime_runtime::clock::Stopwatch;

use crate::Outcome;
use crate::memory::Memory;
use crate::process::{Process, Surroundings};
use crate::stage::Stage;
use chime_eval::synthetic::Random;

/// Longest time for a graceful stop.
const STOP_WITHIN: Duration = Duration::from_secs(10);
/// Pause between the end of a process and the next start, in milliseconds.
const DOWN_MS: u64 = 4_000;
/// Processes in each of the interrupted quarters.
const LIVES: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Kill,
    Stop,
}

pub struct Lives<'a> {
    program: &'a Path,
    random: Random,
    /// Planned ends, as times since the beginning.
    plan: VecDeque<(Duration, End)>,
    process: Option<Process>,
    stopping: Option<Stopwatch>,
    starts_at: Timestamp,
    pub memory: Memory,
    pub kills: usize,
    pub stops: usize,
    pub slowest_stop: Duration,
    /// Processor time of all past processes and of the current one, as last measured.
    pub processor_ms: f64,
    life_ms: f64,
    pub wrong: Vec<String>,
}

impl<'a> Lives<'a> {
    pub fn new(program: &'a Path, seed: u64, now: Timestamp, length: Duration) -> Self {
        let mut random = Random(seed ^ 0x11FE);
        Self {
            program,
            plan: plan(&mut random, length),
            random,
            process: None,
            stopping: None,
            starts_at: now,
            memory: Memory::new(length),
            kills: 0,
            stops: 0,
            slowest_stop: Duration::ZERO,
            processor_ms: 0.0,
            life_ms: 0.0,
            wrong: Vec::new(),
        }
    }

    pub fn is_up(&self) -> bool {
        self.process.is_some() && self.stopping.is_none()
    }

    /// Starts, ends and measures the daemon as planned at `at`. Nothing starts while the database `is_locked`.
    pub fn step(&mut self, stage: &Stage, at: Duration, is_locked: bool) -> Outcome<()> {
        let now = stage.clock.now();
        if let Some(status) = self.ended()? {
            self.note_end(status);
            self.starts_at = now.plus(Duration::from_millis(self.random.below(DOWN_MS)));
        }
        if self.process.is_none() && self.starts_at <= now && !is_locked {
            self.start(stage)?;
        }
        if self.is_up()
            && let Some((_, end)) = self.plan.pop_front_if(|(due, _)| *due <= at)
        {
            self.end(stage, end)?;
        }
        if let Some(process) = &self.process {
            self.memory.look(process, at)?;
            self.life_ms = process.processor_ms().unwrap_or(self.life_ms);
        }
        Ok(())
    }

    /// Cancels all ends but the last.
    pub fn in_peace(&mut self) {
        self.plan.clear();
    }

    /// Stops the daemon gracefully for the last time.
    pub async fn finish(&mut self, stage: &Stage) -> Outcome<()> {
        self.end(stage, End::Stop)?;
        let status = loop {
            match self.ended()? {
                Some(status) => break status,
                None => stage.clock.sleep(Duration::from_millis(20)).await,
            }
        };
        self.note_end(status);
        Ok(())
    }

    fn start(&mut self, stage: &Stage) -> Outcome<()> {
        let around = Surroundings {
            telegram: &stage.telegram,
            model: &stage.model,
            folder: stage.folder(),
            database: &stage.database(),
            log: OpenOptions::new().create(true).append(true).open(stage.log())?,
            settings: &[("PRIVATE_CHATS", "all"), ("LOG_FORMAT", "json")],
        };
        self.process = Some(Process::spawn(self.program, around)?);
        self.memory.begin_life();
        Ok(())
    }

    fn end(&mut self, stage: &Stage, end: End) -> Outcome<()> {
        let Some(process) = &mut self.process else { return Ok(()) };
        self.stopping = Some(stage.clock.stopwatch());
        match end {
            End::Kill => {
                self.kills += 1;
                process.child.kill()?;
            }
            End::Stop => {
                self.stops += 1;
                let told = Command::new("kill").args(["-TERM", &process.child.id().to_string()]).status()?;
                if !told.success() {
                    self.wrong.push("SIGTERM could not be sent".to_owned());
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        Ok(match &mut self.process {
            Some(process) => process.child.try_wait()?,
            None => None,
        })
    }

    fn note_end(&mut self, status: ExitStatus) {
        self.process = None;
        self.processor_ms += std::mem::take(&mut self.life_ms);
        let Some(watch) = self.stopping.take() else {
            return self.wrong.push(format!("the daemon ended by itself: {status}"));
        };
        // A killed process has no exit code.
        let Some(code) = status.code() else { return };
        let took = watch.elapsed();
        self.slowest_stop = self.slowest_stop.max(took);
        if code != 0 {
            self.wrong.push(format!("a stop ended with code {code}"));
        }
        if took > STOP_WITHIN {
            self.wrong.push(format!("a stop took {:.1} s", took.as_secs_f64()));
        }
    }
}

/// Returns the ends in the first and third quarter; the last of each is at the quarter's end.
fn plan(random: &mut Random, length: Duration) -> VecDeque<(Duration, End)> {
    let quarter = length / 4;
    let mut end = || if random.below(2) == 0 { End::Kill } else { End::Stop };
    let of_quarter = |begin: Duration| (1..=LIVES).map(move |number| begin + quarter * number / LIVES);
    of_quarter(Duration::ZERO).chain(of_quarter(quarter * 2)).map(|at| (at, end())).collect()
}
