//! Reads documents in a process of their own, since a damaged file may crash its reader or exhaust its memory.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use chime_documents::{Document, DocumentError, MAX_BYTES, MAX_SECONDS, ReadRequest};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;

/// Signals that end a process when its time is up: `SIGXCPU` and `SIGKILL`, on Linux and macOS.
const TIME_SIGNALS: [i32; 2] = [24, 9];
/// Beginning of Rust's message when no memory is left.
const NO_MEMORY: &str = "memory allocation of";

/// Starts the program that reads documents.
#[derive(Debug, Clone)]
pub struct DocumentReader {
    /// The program `chime`.
    program: PathBuf,
    clock: Clock,
}

impl DocumentReader {
    pub fn new(program: PathBuf, clock: Clock) -> Self {
        Self { program, clock }
    }

    /// Reads a document within `MAX_SECONDS`. Fails if the process cannot be started; what is wrong with the document
    /// is the inner error. If the future is dropped, the process ends.
    pub async fn read(&self, bytes: Vec<u8>, request: &ReadRequest) -> io::Result<Result<Document, DocumentError>> {
        if bytes.len() > MAX_BYTES {
            return Ok(Err(DocumentError::TooLarge));
        }
        let head = serde_json::to_vec(request)?;
        let mut command = Command::new(&self.program);
        command.arg("read-document").env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Ended(command.spawn()?);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (process.0.stdin.take(), process.0.stdout.take(), process.0.stderr.take())
        else {
            return Err(io::Error::other("a process without pipes"));
        };
        let exchange = tokio::task::spawn_blocking(move || exchange(stdin, stdout, stderr, &[&head, b"\n", &bytes]));
        let Some(replied) = within(&self.clock, Duration::from_secs(MAX_SECONDS), exchange).await else {
            return Ok(Err(DocumentError::TooSlow));
        };
        let (output, errors) = replied.map_err(io::Error::other)??;
        // Its pipes are closed, so it has ended or is about to.
        let status = process.0.wait()?;
        Ok(outcome(&output, &errors, status))
    }
}

/// Process that is killed when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes `parts` to the process and returns its output and error output. The process reads all before it writes, and
/// its error output is short, so that neither side waits for the other.
fn exchange(
    mut stdin: ChildStdin,
    mut stdout: ChildStdout,
    mut stderr: ChildStderr,
    parts: &[&[u8]],
) -> io::Result<(Vec<u8>, String)> {
    // A process that ended early does not read everything; its status tells why.
    let _ = parts.iter().try_for_each(|part| stdin.write_all(part));
    drop(stdin);
    let (mut output, mut errors) = (Vec::new(), String::new());
    stdout.read_to_end(&mut output)?;
    stderr.read_to_string(&mut errors)?;
    Ok((output, errors))
}

fn outcome(output: &[u8], errors: &str, status: ExitStatus) -> Result<Document, DocumentError> {
    let is_late = status.signal().is_some_and(|signal| TIME_SIGNALS.contains(&signal));
    serde_json::from_slice(output).unwrap_or(Err(match is_late {
        true => DocumentError::TooSlow,
        false if errors.contains(NO_MEMORY) => DocumentError::TooLarge,
        false => DocumentError::Damaged,
    }))
}
