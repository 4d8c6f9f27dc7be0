//! The program under measurement.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Outcome;
use crate::measure::milliseconds;
use crate::scene::Scene;

/// A start that takes longer has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `chime run`. Killed when dropped.
pub struct Daemon {
    child: Child,
    /// From the start of the process to its first poll.
    pub start_ms: f64,
}

impl Daemon {
    pub async fn start(program: &Path, scene: &Scene) -> Outcome<Self> {
        let log = scene.folder().join("chime.log");
        let watch = scene.clock.stopwatch();
        let child = Command::new(program)
            .arg("run")
            .current_dir(scene.folder())
            .env_clear()
            .env("TELEGRAM_API_URL", scene.telegram.api_url())
            .env("TELEGRAM_BOT_TOKEN", scene.telegram.token())
            .env("OPENAI_BASE_URL", scene.model.base_url())
            .env("MODEL", "at-once")
            .env("DATABASE_PATH", scene.database())
            .env("ALLOWED_CHATS", "*")
            // Nobody tags a bot three hundred times in a row but we.
            .env("RATE_LIMIT", "off")
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()?;
        let mut daemon = Self { child, start_ms: 0.0 };
        if tokio::time::timeout(PATIENCE, scene.telegram.called("getUpdates", 1)).await.is_err() {
            return Err(format!("the daemon does not poll: {}", std::fs::read_to_string(log)?).into());
        }
        daemon.start_ms = milliseconds(watch);
        Ok(daemon)
    }

    /// Resident memory, as Linux tells it.
    pub fn resident_mb(&self) -> Outcome<f64> {
        let status = self.told("status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kib / 1024.0)
    }

    /// Processor time that all its threads have used, to a hundredth of a second.
    pub fn processor_ms(&self) -> Outcome<f64> {
        /// Linux counts in these, whatever the kernel's own clock does.
        const MS_PER_TICK: f64 = 10.0;
        let stat = self.told("stat")?;
        // The name of the program stands in brackets and may hold anything; the times are the 12th and 13th behind it.
        let (_, behind) = stat.rsplit_once(')').ok_or("no name in stat")?;
        let ticks = behind.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? * MS_PER_TICK)
    }

    fn told(&self, what: &str) -> Outcome<String> {
        Ok(std::fs::read_to_string(format!("/proc/{}/{what}", self.child.id()))?)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill, and waiting only takes its leave.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
