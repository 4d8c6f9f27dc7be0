//! Runs the program as a separate process.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use chime_sandbox::Sandbox;
use chime_testkit::ModelServer;

use crate::Outcome;

/// Environment of a process.
pub struct Surroundings<'a> {
    pub telegram: &'a Sandbox,
    pub model: &'a ModelServer,
    /// Working folder, without a `.env`.
    pub folder: &'a Path,
    pub database: &'a Path,
    /// File for its output.
    pub log: File,
    /// Settings other than addresses and paths.
    pub settings: &'a [(&'a str, &'a str)],
}

/// A running `chime run`. Killed when dropped.
pub struct Process {
    pub child: Child,
}

impl Process {
    pub fn spawn(program: &Path, around: Surroundings<'_>) -> Outcome<Self> {
        let child = Command::new(program)
            .arg("run")
            .current_dir(around.folder)
            .env_clear()
            .env("TELEGRAM_API_URL", around.telegram.api_url())
            .env("TELEGRAM_BOT_TOKEN", around.telegram.token())
            .env("OPENAI_BASE_URL", around.model.base_url())
            .env("MODEL", "at-once")
            .env("DATABASE_PATH", around.database)
            .env("ALLOWED_CHATS", "*")
            // Only a test mentions a bot three hundred times in a row.
            .env("RATE_LIMIT", "off")
            .envs(around.settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(around.log)
            .spawn()?;
        Ok(Self { child })
    }

    /// Returns the resident memory, from Linux's `/proc`.
    pub fn resident_mb(&self) -> Outcome<f64> {
        self.memory_mb("VmRSS:")
    }

    /// Returns a line of `/proc/<pid>/status`, such as `VmHWM:` for the peak of resident memory.
    pub fn memory_mb(&self, name: &str) -> Outcome<f64> {
        let status = self.told("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line in status")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }

    /// Returns the processor time of all its threads, with a resolution of 0.01 s.
    pub fn processor_ms(&self) -> Outcome<f64> {
        /// Unit of these values in Linux's `/proc`, whatever the kernel's own tick.
        const MS_PER_TICK: f64 = 10.0;
        let stat = self.told("stat")?;
        // The program's name is in brackets and may contain anything; the times are the 12th and 13th fields after it.
        let (_, behind) = stat.rsplit_once(')').ok_or("no name in stat")?;
        let ticks = behind.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? * MS_PER_TICK)
    }

    fn told(&self, what: &str) -> Outcome<String> {
        Ok(std::fs::read_to_string(format!("/proc/{}/{what}", self.child.id()))?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended; then killing fails and waiting only reaps it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
