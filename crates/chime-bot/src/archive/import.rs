//! Imports an export: a blocking thread reads it, and messages are written in batches.

mod error;
mod export;
mod former_group;
mod read;
mod source;
mod write;

use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::archive::import::read::{Ended, ImportBatch};
use crate::archive::import::write::DryRunMessages;
use crate::archive::{Tally, Unusable};
use chime_core::config::AccessConfig;
use chime_core::{ChatId, Timestamp, UserId};
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store};

pub use error::ImportError;
pub use export::{ExportError, export};
pub use read::ExportFile;

/// Number of batches that may be read ahead of writing.
const AHEAD: usize = 4;

/// Input of an import.
pub struct Import {
    pub store: Store,
    pub clock: Clock,
    pub file: ExportFile,
    pub bot: UserId,
    pub access: AccessConfig,
    /// The operator's retention. Older messages are skipped, since they would be deleted at once.
    pub retention: Option<Duration>,
    pub mode: ImportMode,
}

/// Import mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    Write,
    /// Counts messages without writing.
    DryRun,
}

/// Result of an import that reached the end of the file or the first damaged place in it.
#[derive(Debug)]
pub struct Imported {
    pub tally: Tally,
    /// Reason for stopping early, if any. Messages read before that are stored; a second run continues after them.
    pub outcome: Result<(), ImportError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    pub bytes: u64,
    pub total: u64,
    pub messages: u64,
}

/// Scans an export before anything is opened or created for it. A folder stands for the only export in it.
///
/// # Errors
/// All errors except [`ImportError::Damaged`], which [`import`] reports.
pub async fn open(path: &Path) -> Result<ExportFile, ImportError> {
    let path = path.to_owned();
    let looked = path.clone();
    let looking = tokio::task::spawn_blocking(move || read::look_through(&looked));
    looking.await.map_err(|_| ImportError::Panicked { path })?
}

/// Imports a file and calls `tell` with the progress. A second run adds nothing.
///
/// # Errors
/// Fails if the database fails; batches committed before that stay.
pub async fn import(import: Import, mut tell: impl FnMut(ImportProgress)) -> Result<Imported, ImportError> {
    let Import { store, clock, file, bot, access, retention, mode } = import;
    let now = clock.now();
    let path = file.path.clone();
    let total = std::fs::metadata(&path).map_err(|source| ImportError::File { path: path.clone(), source })?.len();
    let (batches, mut read) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || read::read(file, bot, &batches));
    let mut tally = Tally::default();
    let setting = write::ImportSettings { access, cutoff: retention.map(|span| now.minus(span)), now };
    let mut seen = DryRunMessages::default();
    while let Some(batch) = read.recv().await {
        let ImportBatch { bytes, .. } = batch;
        let setting = setting.clone();
        let counted = match mode {
            ImportMode::Write => {
                let written = store.write(Priority::Background, move |tx| write::take_in(tx, &batch, &setting));
                written.await?
            }
            ImportMode::DryRun => {
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
        tell(ImportProgress { bytes, total, messages: tally.messages() });
    }
    let Ended { left_out, outcome } = reading.await.map_err(|_| ImportError::Panicked { path })?;
    if mode == ImportMode::Write {
        finish(&store, &tally, now).await?;
    }
    tally.left_out.extend(left_out.into_iter().map(|(name, why): (String, Unusable)| (name, why.to_string())));
    Ok(Imported { tally, outcome })
}

/// Schedules a notice in each chat that got new messages.
async fn finish(store: &Store, tally: &Tally, now: Timestamp) -> chime_store::Result<()> {
    let news: Vec<(ChatId, u64)> =
        tally.chats.iter().filter(|(_, chat)| chat.added > 0).map(|(id, chat)| (*id, chat.added)).collect();
    store.write(Priority::Background, move |tx| write::announce(tx, &news, now)).await
}
