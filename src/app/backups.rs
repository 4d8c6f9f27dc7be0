//! Daily backups of the database.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use chime_core::config::BackupConfig;
use chime_runtime::clock::Clock;
use chime_store::backups::{self, DailyCopies};
use chime_store::{Copied, Priority, Store, StoreError};

/// Makes the daily backups. A backup that fails is reported, and tried again at the next call.
#[derive(Clone)]
pub struct DailyBackups {
    store: Store,
    clock: Clock,
    config: Option<BackupConfig>,
    /// Error of the last try.
    failure: Arc<Mutex<Option<String>>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupState {
    /// Age of the newest backup, or `None` if there is none.
    pub age: Option<Duration>,
    /// A backup dated in the future: the clock was wrong when it was made.
    pub from_future: Option<PathBuf>,
    /// Error of the last try.
    pub failure: Option<String>,
}

impl DailyBackups {
    pub fn new(store: &Store, clock: &Clock, config: Option<BackupConfig>) -> Self {
        Self { store: store.clone(), clock: clock.clone(), config, failure: Arc::default() }
    }

    /// Makes a backup if it is due. Dropping the future stops the copy, which then leaves nothing.
    pub async fn run(&self) {
        let Some(config) = self.config.clone() else { return };
        let (store, now, stop) = (self.store.clone(), self.clock.now(), CancellationToken::new());
        let stopped = stop.clone();
        let _guard = stop.drop_guard();
        let folder = config.folder.clone();
        let made = match store.write(Priority::Background, move |tx| backups::note_folder(tx, &folder)).await {
            Ok(()) => {
                let copying = move || backups::make_daily(store.path(), &config, now, &stopped);
                tokio::task::spawn_blocking(copying).await.unwrap_or(Err(StoreError::Panicked))
            }
            Err(error) => Err(error),
        };
        match &made {
            Ok(None) => return,
            Ok(Some(Copied { path, bytes, .. })) => tracing::info!(bytes, "made the daily backup {}", path.display()),
            Err(error) => tracing::warn!(error = %chain(error), "the daily backup failed; the next try is in an hour"),
        }
        let failure = made.err().map(|error| chain(&error));
        *self.failure.lock() = failure;
    }

    /// Returns the state of the backups, or `None` if none are made.
    pub fn state(&self) -> Option<BackupState> {
        let now = self.clock.now();
        let copies = backups::daily(self.store.path(), &self.config.as_ref()?.folder, now);
        let failure = self.failure.lock().clone();
        Some(match copies {
            Ok(DailyCopies { newest, from_future }) => {
                let age = newest.map(|made_at| now.since(made_at));
                BackupState { age, from_future: from_future.into_iter().next(), failure }
            }
            Err(error) => BackupState { age: None, from_future: None, failure: failure.or(Some(chain(&error))) },
        })
    }
}

/// Returns an error with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |error| error.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
