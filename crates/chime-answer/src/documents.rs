//! Downloads documents and reads them in a process of their own, since a damaged file may crash its reader or exhaust
//! its memory.

use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::read_text::UnreadReason;
use chime_core::{Message, MessageFile};
use chime_documents::{Document, DocumentError, MAX_BYTES, MAX_SECONDS, ReadRequest, is_readable};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;
use chime_telegram::{Telegram, TelegramError};

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
    /// One process at a time, since each may take 200 MB.
    turns: Arc<Semaphore>,
}

/// Reason why there is no text of a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error(transparent)]
    Unreadable(#[from] DocumentError),
    #[error("it cannot be downloaded: {0}")]
    Telegram(#[from] TelegramError),
    #[error("its reader cannot be started: {0}")]
    NoReader(#[from] io::Error),
    #[error("it is not kept")]
    Unavailable,
}

impl From<FileError> for UnreadReason {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Unreadable(error) => Self::File(error),
            FileError::Telegram(_) | FileError::NoReader(_) | FileError::Unavailable => Self::Unavailable,
        }
    }
}

impl DocumentReader {
    pub fn new(program: PathBuf, clock: Clock) -> Self {
        Self { program, clock, turns: Arc::new(Semaphore::new(1)) }
    }

    /// Downloads the file of a message and reads it. Files whose names and types no reader knows are not downloaded.
    pub async fn fetch(&self, telegram: &Telegram, message: &Message) -> Result<Document, FileError> {
        let MessageFile { id, media_type, bytes, .. } = message.file.as_ref().ok_or(FileError::Unavailable)?;
        let mime_type = Some(media_type.clone()).filter(|claimed| !claimed.is_empty());
        let request = ReadRequest { file_name: message.detail.clone().unwrap_or_default(), mime_type };
        if !is_readable(&request) {
            return Err(DocumentError::Unsupported.into());
        }
        if bytes.is_some_and(|bytes| bytes > MAX_BYTES as u64) {
            return Err(DocumentError::TooLarge.into());
        }
        let bytes = telegram.download(id, MAX_BYTES).await?.ok_or(DocumentError::TooLarge)?;
        Ok(self.read(bytes, &request).await??)
    }

    /// Reads a document within `MAX_SECONDS`. Fails if the process cannot be started; what is wrong with the document
    /// is the inner error. If the future is dropped, the process ends.
    pub async fn read(&self, bytes: Vec<u8>, request: &ReadRequest) -> io::Result<Result<Document, DocumentError>> {
        if bytes.len() > MAX_BYTES {
            return Ok(Err(DocumentError::TooLarge));
        }
        let _turn = self.turns.acquire().await.map_err(io::Error::other)?;
        let head = serde_json::to_vec(request)?;
        let mut command = Command::new(&self.program);
        command.arg("read-document").env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = KilledOnDrop(command.spawn()?);
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
        // The pipes of the process are closed, so it has ended or is about to end.
        let status = process.0.wait()?;
        Ok(outcome(&output, &errors, status))
    }
}

/// Process that is killed when dropped.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
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
