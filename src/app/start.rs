//! Opening the store, and the line that a start is told by.

use std::path::PathBuf;

use crate::app::AppError;
use crate::clock::Clock;
use crate::config::{AllowedChats, Config, EmbeddingConfig};
use crate::domain::span_in_words;
use crate::store::{Opened, Store, admission};

/// What the operator should see at a glance.
pub(super) async fn tell(config: &Config, store: &Store, username: &str) -> Result<(), AppError> {
    let Config { llm, embedding, privacy, access, time, .. } = config;
    let admitted = store.read(admission::count).await?;
    let model = match (&llm.model, llm.host()) {
        (Some(model), Some(host)) => format!("{model} at {host}"),
        (Some(model), None) => model.clone(),
        (None, _) => "none, answers are digests".to_owned(),
    };
    let embedding = match embedding {
        EmbeddingConfig::Local => "local".to_owned(),
        EmbeddingConfig::Off => "off".to_owned(),
        EmbeddingConfig::Model2Vec(folder) => folder.display().to_string(),
        EmbeddingConfig::OpenAi(model) => format!("{model} of the server"),
    };
    let retention = privacy.retention.map_or_else(|| "for good".to_owned(), span_in_words);
    let chats = match &access.chats {
        AllowedChats::All => "all".to_owned(),
        AllowedChats::Only(listed) => (listed.len() as u64 + admitted.chats).to_string(),
    };
    let owners = access.owners.len() as u64 + admitted.owners;
    tracing::info!(
        database = %store.path().display(), version = concat!(env!("CARGO_PKG_VERSION"), env!("CHIME_COMMIT_SUFFIX")),
        "ready as @{}: model {model}, embedding {embedding}, messages kept {retention}, chats {chats}, owners {owners}, \
         time zone {}",
        username, time.zone.name(),
    );
    Ok(())
}

pub(super) async fn open_store(path: PathBuf, clock: &Clock) -> Result<Store, AppError> {
    let now = clock.now();
    let opened = tokio::task::spawn_blocking(move || Store::open(&path, now)).await;
    let (store, Opened { created, migrated, backup }) = opened.map_err(|error| AppError::Task(error.to_string()))??;
    if let Some(backup) = backup {
        tracing::info!(
            from = migrated.0, to = migrated.1, backup = %backup.display(),
            "migrated the database from version {} to {}; a copy from before is {}", migrated.0, migrated.1,
            backup.display(),
        );
    }
    if created {
        tracing::info!("created a new database");
    }
    Ok(store)
}
