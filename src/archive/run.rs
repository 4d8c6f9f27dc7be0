//! Reads an export on a thread of its own and writes what it holds, a batch at a time.

mod export;
mod former;
mod read;
mod write;

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::archive::run::read::Batch;
use crate::archive::{Tally, Unusable};
use crate::clock::Clock;
use crate::config::AccessConfig;
use crate::domain::{ChatId, Timestamp, UserId};
use crate::store::{self, Priority, Store, StoreError};

pub use export::{ExportError, export};

/// Batches that are read ahead of what is written.
const AHEAD: usize = 4;

/// What an import needs to know.
pub struct Import {
    pub store: Store,
    pub clock: Clock,
    pub file: PathBuf,
    pub bot: UserId,
    pub access: AccessConfig,
    /// The operator's; messages older than this are left out, since they would be deleted at once.
    pub retention: Option<Duration>,
    pub manner: Manner,
}

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Write,
    /// Only counted.
    DryRun,
}

/// Why an import ended early. What was read before is kept, and a second run goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(
        "{} breaks off or is damaged at line {line}, column {column}; what stands before it was imported: export the chat \
         again, and import that too", path.display()
    )]
    Damaged { path: PathBuf, line: usize, column: usize },
    #[error(
        "{} is no Telegram Desktop export: expected result.json of a chat or of all chats, in the JSON format",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("reading {} panicked", path.display())]
    Panicked { path: PathBuf },
}

/// Progress, for whoever shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub bytes: u64,
    pub total: u64,
    pub messages: u64,
}

/// Looks whether `file` is an export, before anything is opened or created for it.
///
/// # Errors
/// [`ImportError::File`] and [`ImportError::Foreign`].
pub async fn recognize(file: PathBuf, bot: UserId) -> Result<(), ImportError> {
    let path = file.clone();
    let looking = tokio::task::spawn_blocking(move || read::recognize(&path, bot));
    looking.await.map_err(|_| ImportError::Panicked { path: file })?
}

/// Imports a file; a second run adds nothing. `tell` hears of progress.
///
/// # Errors
/// [`ImportError`]; what was committed before stays.
pub async fn import(import: Import, mut tell: impl FnMut(Progress)) -> Result<Tally, ImportError> {
    let Import { store, clock, file, bot, access, retention, manner } = import;
    let now = clock.now();
    let total = std::fs::metadata(&file).map_err(|source| ImportError::File { path: file.clone(), source })?.len();
    let (batches, mut read) = mpsc::channel(AHEAD);
    let path = file.clone();
    let reading = tokio::task::spawn_blocking(move || read::read(&path, bot, &batches));
    let mut tally = Tally::default();
    let setting = write::Setting { access, cutoff: retention.map(|span| now.minus(span)), now };
    while let Some(batch) = read.recv().await {
        let Batch { bytes, .. } = batch;
        let counted = take_in(&store, batch, &setting, manner).await?;
        write::add(&mut tally, counted);
        tell(Progress { bytes, total, messages: tally.messages() });
    }
    let ended = reading.await.map_err(|_| ImportError::Panicked { path: file.clone() })?;
    if manner == Manner::Write {
        finish(&store, &tally, now).await?;
    }
    let left_out = ended?;
    tally.left_out.extend(left_out.into_iter().map(|(name, why): (String, Unusable)| (name, why.to_string())));
    Ok(tally)
}

async fn take_in(
    store: &Store,
    batch: Batch,
    setting: &write::Setting,
    manner: Manner,
) -> store::Result<write::Counted> {
    let setting = setting.clone();
    match manner {
        Manner::Write => store.write(Priority::Background, move |tx| write::take_in(tx, &batch, &setting)).await,
        Manner::DryRun => store.read(move |conn| write::count(conn, &batch, &setting)).await,
    }
}

/// Chats that got something new are told.
async fn finish(store: &Store, tally: &Tally, now: Timestamp) -> store::Result<()> {
    let news: Vec<(ChatId, u64)> =
        tally.chats.iter().filter(|(_, chat)| chat.added > 0).map(|(id, chat)| (*id, chat.added)).collect();
    store.write(Priority::Background, move |tx| write::announce(tx, &news, now)).await
}
