//! Imports an export: one thread reads the file, and the caller's task writes the messages in batches.

mod error;
mod export;
mod former_group;
mod kept;
mod read;
mod source;
mod write;

use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::archive::import::read::{ImportBatch, ReadOutcome};
use crate::archive::{Tally, Unusable};
use chime_core::UserId;
use chime_core::config::AccessConfig;
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store};

pub use error::ImportError;
pub use export::{ExportError, export};
pub use read::ExportFile;

/// Maximum number of batches that are read but not written yet.
const AHEAD: usize = 4;

pub struct Import {
    pub store: Store,
    pub clock: Clock,
    pub file: ExportFile,
    pub bot: UserId,
    pub access: AccessConfig,
    /// Time for which the operator stores messages. Older ones are not imported, since they would be deleted at once.
    pub retention: Option<Duration>,
}

/// Result of an import that read the whole file or stopped at damage in it.
#[derive(Debug)]
pub struct Imported {
    pub tally: Tally,
    /// Error that ended the import early. Messages before it are stored, and a second run skips them.
    pub outcome: Result<(), ImportError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    pub bytes: u64,
    pub total: u64,
    pub messages: u64,
}

/// Scans an export, without needing a database. `path` is its file or a folder with only one export.
///
/// # Errors
/// All errors except [`ImportError::Damaged`], which [`import`] reports.
pub async fn open(path: &Path) -> Result<ExportFile, ImportError> {
    let path = path.to_owned();
    let looked = path.clone();
    let looking = tokio::task::spawn_blocking(move || read::look_through(&looked));
    looking.await.map_err(|_| ImportError::Panicked { path })?
}

/// Imports a file and calls `tell` with the progress. Messages that are stored already are skipped, so an import can be
/// repeated.
///
/// # Errors
/// Fails if the database fails; batches committed before that stay.
pub async fn import(import: Import, mut tell: impl FnMut(ImportProgress)) -> Result<Imported, ImportError> {
    let Import { store, clock, file, bot, access, retention } = import;
    let now = clock.now();
    let path = file.path.clone();
    let total = std::fs::metadata(&path).map_err(|source| ImportError::File { path: path.clone(), source })?.len();
    let (batches, mut read) = mpsc::channel(AHEAD);
    let reading = tokio::task::spawn_blocking(move || read::read(file, bot, &batches));
    let mut tally = Tally::default();
    let setting = write::ImportSettings { access, cutoff: retention.map(|span| now.minus(span)), now };
    while let Some(batch) = read.recv().await {
        let ImportBatch { bytes, .. } = batch;
        let setting = setting.clone();
        let written = store.write(Priority::Background, move |tx| write::take_in(tx, &batch, &setting));
        write::add(&mut tally, written.await?);
        tell(ImportProgress { bytes, total, messages: tally.messages() });
    }
    let ReadOutcome { left_out, outcome } = reading.await.map_err(|_| ImportError::Panicked { path })?;
    tally.left_out.extend(left_out.into_iter().map(|(name, why): (String, Unusable)| (name, why.to_string())));
    Ok(Imported { tally, outcome })
}
