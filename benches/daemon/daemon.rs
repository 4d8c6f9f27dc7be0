//! The program under measurement.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use crate::Outcome;
use crate::measure::milliseconds;
use crate::process::{Process, Surroundings};
use crate::scene::Scene;

/// Longest time for a start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Running daemon.
pub struct Daemon {
    pub process: Process,
    /// Time from the start of the process to its first poll.
    pub start_ms: f64,
}

impl Daemon {
    pub async fn start(program: &Path, scene: &Scene) -> Outcome<Self> {
        let log = scene.folder().join("chime.log");
        let watch = scene.clock.stopwatch();
        let around = Surroundings {
            telegram: &scene.telegram,
            model: &scene.model,
            folder: scene.folder(),
            database: &scene.database(),
            log: File::create(&log)?,
            settings: &[],
        };
        let process = Process::spawn(program, around)?;
        if tokio::time::timeout(PATIENCE, scene.telegram.called("getUpdates", 1)).await.is_err() {
            return Err(format!("the daemon does not poll: {}", std::fs::read_to_string(log)?).into());
        }
        Ok(Self { process, start_ms: milliseconds(watch) })
    }
}
