//! Runs the daemon as a separate process that can be killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use chime_runtime::clock::Clock;
use chime_world::World;

/// Longest real time for a step of a process. Not part of any expectation.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A running `chime run`. Killed when dropped.
pub struct Process {
    child: Child,
    log: Arc<Mutex<Vec<String>>>,
    reader: Option<JoinHandle<()>>,
    clock: Clock,
}

impl Process {
    /// Starts the daemon of `world` and waits until it is ready.
    pub async fn start(world: &World) -> Self {
        let mut process = Self::spawn(world, chime());
        process.logged("ready as @bot").await;
        process
    }

    /// Starts the daemon of `world` without waiting.
    pub fn begin(world: &World) -> Self {
        Self::spawn(world, chime())
    }

    /// Starts the daemon of `world` through a shell line in which `$0` is the binary.
    pub fn through_shell(world: &World, line: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", line, env!("CARGO_BIN_EXE_chime")]);
        Self::spawn(world, shell)
    }

    fn spawn(world: &World, mut command: Command) -> Self {
        let folder = world.database().parent().expect("a folder").join("empty");
        fs::create_dir_all(&folder).expect("a folder without .env");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("LOG_FORMAT", "human")
            .envs(world.environment())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the daemon");
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let (stderr, lines) = (child.stderr.take().expect("its stderr"), Arc::clone(&log));
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                lines.lock().expect("the log").push(line);
            }
        });
        Self { child, log, reader: Some(reader), clock: world.clock.clone() }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its whole output so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("the log").join("\n")
    }

    /// Waits until its output contains `text`.
    pub async fn logged(&mut self, text: &str) {
        self.logged_times(text, 1).await;
    }

    pub async fn logged_times(&mut self, text: &str, times: usize) {
        let until = self.clock.now().plus(PATIENCE);
        while self.log().matches(text).count() < times {
            let ended = self.child.try_wait().expect("the process");
            assert!(ended.is_none(), "it ended with {ended:?} before it said {text:?}:\n{}", self.log());
            assert!(self.clock.now() < until, "it never says {text:?}:\n{}", self.log());
            self.clock.sleep(LOOK_EVERY).await;
        }
    }

    /// Kills it with SIGKILL.
    pub fn kill(mut self) {
        self.child.kill().expect("kill the daemon");
        self.child.wait().expect("the daemon is dead");
    }

    pub fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().expect("run kill");
        assert!(sent.success(), "the signal was not sent");
    }

    /// Waits for the exit. Returns the exit code and the whole output.
    pub async fn ended(mut self, within: Duration) -> (i32, String) {
        let until = self.clock.now().plus(within);
        loop {
            if let Some(status) = self.child.try_wait().expect("the process") {
                // The last output may still be on the way.
                if let Some(reader) = self.reader.take() {
                    reader.join().expect("read its log");
                }
                return (status.code().unwrap_or(-1), self.log());
            }
            assert!(self.clock.now() < until, "it still runs after {within:?}:\n{}", self.log());
            self.clock.sleep(LOOK_EVERY).await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn chime() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chime"));
    command.arg("run");
    command
}
