//! Reads an export on a thread of its own and writes what it holds, a batch at a time.

mod export;
mod former;
mod read;
mod source;
mod write;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::archive::import::read::{Batch, Ended};
use crate::archive::import::write::Seen;
use crate::archive::{Tally, Unusable};
use chime_core::config::AccessConfig;
use chime_core::{ChatId, Timestamp, UserId};
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store, StoreError};

pub use export::{ExportError, export};
pub use read::ExportFile;

/// Batches that are read ahead of what is written.
const AHEAD: usize = 4;

/// What an import needs to know.
pub struct Import {
    pub store: Store,
    pub clock: Clock,
    pub file: ExportFile,
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

/// An import that came to the end of the file, or as far as it can be read.
#[derive(Debug)]
pub struct Imported {
    pub tally: Tally,
    /// Why it ended early, if it did. What was read before is kept, and a second run goes on from there.
    pub outcome: Result<(), ImportError>,
}

/// Why an import ended early, or did not begin.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{} cannot be read: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error(
        "{} breaks off or is damaged at line {line}, column {column}; only messages before that can be imported: export the \
         chat again, and import that too", path.display()
    )]
    Damaged { path: PathBuf, line: usize, column: usize },
    #[error(
        "{} is no Telegram Desktop export: expected result.json of a chat or of all chats, in the JSON format",
        path.display()
    )]
    Foreign { path: PathBuf },
    #[error(
        "{} holds no result.json: in Telegram Desktop export the chat in the {}", path.display(),
        if *is_html { "format JSON; this export is in the format HTML" } else { "format JSON" }
    )]
    NoExport { path: PathBuf, is_html: bool },
    #[error("{} holds several exports: import one after the other: {found}", path.display())]
    SeveralExports { path: PathBuf, found: String },
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

/// Looks through an export, before anything is opened or created for it. A folder stands for the only export in it.
///
/// # Errors
/// All but [`ImportError::Damaged`], which [`import`] tells.
pub async fn open(path: &Path) -> Result<ExportFile, ImportError> {
    let path = path.to_owned();
    let looked = path.clone();
    let looking = tokio::task::spawn_blocking(move || read::look_through(&looked));
    looking.await.map_err(|_| ImportError::Panicked { path })?
}

/// Imports a file; a second run adds nothing. `tell` hears of progress.
///
/// # Errors
/// When the database fails; what was committed before stays.
pub async fn import(import: Import, mut tell: impl FnMut(Progress)) -> Result<Imported, ImportError> {
    let Import { store, clock, file, bot, access, retention, manner } = import;
    let now = clock.now();
    let path = file.path.clone();
    let total = std::fs::metadata(&path).map_err(|source| ImportError::File { path: path.clone(), source })?.len();
    let (batches, mut read) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || read::read(file, bot, &batches));
    let mut tally = Tally::default();
    let setting = write::Setting { access, cutoff: retention.map(|span| now.minus(span)), now };
    let mut seen = Seen::default();
    while let Some(batch) = read.recv().await {
        let Batch { bytes, .. } = batch;
        let setting = setting.clone();
        let counted = match manner {
            Manner::Write => {
                let written = store.write(Priority::Background, move |tx| write::take_in(tx, &batch, &setting));
                written.await?
            }
            Manner::DryRun => {
                let counted = store.read(move |conn| {
                    let counted = write::count(conn, &batch, &setting, &mut seen)?;
                    Ok((counted, seen))
                });
                let (counted, now_seen) = counted.await?;
                seen = now_seen;
                counted
            }
        };
        write::add(&mut tally, counted);
        tell(Progress { bytes, total, messages: tally.messages() });
    }
    let Ended { left_out, outcome } = reading.await.map_err(|_| ImportError::Panicked { path })?;
    if manner == Manner::Write {
        finish(&store, &tally, now).await?;
    }
    tally.left_out.extend(left_out.into_iter().map(|(name, why): (String, Unusable)| (name, why.to_string())));
    Ok(Imported { tally, outcome })
}

/// Chats that got something new are told.
async fn finish(store: &Store, tally: &Tally, now: Timestamp) -> chime_store::Result<()> {
    let news: Vec<(ChatId, u64)> =
        tally.chats.iter().filter(|(_, chat)| chat.added > 0).map(|(id, chat)| (*id, chat.added)).collect();
    store.write(Priority::Background, move |tx| write::announce(tx, &news, now)).await
}
