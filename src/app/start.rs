//! Steps of the start: opening the store, loading the embedding model, connecting to Telegram, and logging the
//! configuration.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::app::error::AppError;
use crate::app::service;
use crate::app::tasks::Tasks;
use chime_access::{ClaimCode, is_unclaimed};
use chime_bot::ingest::intake::{PollHealth, TroubleKind};
use chime_core::config::{AllowedChats, Config, EmbeddingConfig};
use chime_core::embed::Embedder;
use chime_core::{BotIdentity, span_in_words};
use chime_jobs::worker::{record, schedule};
use chime_runtime::clock::{Clock, SET_BACK_FROM};
use chime_runtime::resilience::{Backoff, random};
use chime_store::{Opened, Store, admission, inbox, jobs, outbox};
use chime_telegram::{Telegram, TelegramError};

/// Hint for the only known reason why an HTTP client cannot be built.
const NO_CERTIFICATES: &str =
    "are the trusted certificates of the system installed? Debian has them in ca-certificates";

/// Logs the most important settings in one line.
pub(super) async fn tell(config: &Config, store: &Store, username: &str) -> Result<(), AppError> {
    let Config { llm, embedding, privacy, access, time, .. } = config;
    let of_config = access.clone();
    let admitted = store.read(move |conn| admission::count_further(conn, &of_config)).await?;
    let model = match (&llm.model, llm.host()) {
        (Some(model), Some(host)) => format!("{model} at {host}"),
        (Some(model), None) => model.clone(),
        (None, _) => "none, answers are digests".to_owned(),
    };
    let embedding = match embedding {
        EmbeddingConfig::Local => "local".to_owned(),
        EmbeddingConfig::Off => "off".to_owned(),
        EmbeddingConfig::Model2Vec(folder) => folder.display().to_string(),
        EmbeddingConfig::OpenAi(model) => format!("{} of the server", model.name),
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

/// Loads the embedding model. If the built-in model cannot be loaded, the daemon starts without it, since it only
/// improves the choice of messages. If the operator has named a model, that is an error.
pub(super) async fn load_embedder(config: EmbeddingConfig) -> Result<Option<Arc<Embedder>>, AppError> {
    let named = matches!(config, EmbeddingConfig::Model2Vec(_));
    let loaded = tokio::task::spawn_blocking(move || Embedder::load(&config)).await;
    match loaded.map_err(|error| AppError::Task(format!("loading the embedding model: {error}")))? {
        Ok(embedder) => Ok(embedder.map(Arc::new)),
        Err(error) if named => Err(AppError::Embedding(error)),
        Err(error) => {
            tracing::error!(%error, "the embedding model cannot be loaded, continuing without it");
            Ok(None)
        }
    }
}

/// Continues jobs and sends that were interrupted by the end of the last process. Waits until the database can be
/// written.
pub(super) async fn recover(store: &Store, clock: &Clock, stop: &CancellationToken) -> Result<(), AppError> {
    let now = clock.now();
    let recovering = record(store, clock, move |tx| {
        // The clock was set back since the last run. Postponed jobs are moved back too, since they would otherwise wait
        // until the clock reaches the old time.
        let ahead = inbox::last_stored_at(tx)?.map_or(Duration::ZERO, |last| last.since(now));
        if ahead > SET_BACK_FROM {
            tracing::warn!(by_s = ahead.as_secs(), "the clock of this machine was set back since the last run");
            jobs::set_back(tx, ahead, now)?;
        }
        let unreadable = jobs::park_unreadable(tx)?;
        if unreadable > 0 {
            tracing::warn!(unreadable, "{unreadable} jobs of another version were put aside; `chime check` shows them");
        }
        let recovered = (outbox::recover(tx)?, jobs::recover(tx, now)?);
        schedule(tx, now)?;
        Ok(recovered)
    });
    let (sends, jobs) = tokio::select! {
        () = stop.cancelled() => return Err(AppError::StoppedEarly),
        recovered = recovering => recovered?,
    };
    if sends + jobs > 0 {
        tracing::info!(sends, jobs, "took up {jobs} jobs and {sends} interrupted sends from before");
    }
    Ok(())
}

/// Creates a code with which a user becomes the owner. Returns `None` if there already is an owner or an allowed chat.
pub(super) async fn claim_code(config: &Config, store: &Store) -> Result<Option<ClaimCode>, AppError> {
    let has_owner = store.read(admission::has_owner).await?;
    if !is_unclaimed(&config.access, has_owner) {
        return Ok(None);
    }
    let mut bytes = [0; 8];
    let source = rustls::crypto::ring::default_provider().secure_random;
    source.fill(&mut bytes).map_err(|_| AppError::Task("the system gives no random numbers".to_owned()))?;
    Ok(Some(ClaimCode::new(u64::from_le_bytes(bytes))))
}

pub(super) fn connect(config: &Config) -> Result<Telegram, AppError> {
    Telegram::new(config.telegram.clone()).map_err(|_| AppError::Http(NO_CERTIFICATES.to_owned()))
}

/// Asks Telegram for the bot's identity. Tries again until it succeeds or the token is refused twice.
pub(super) async fn introduce(
    telegram: &Telegram,
    clock: &Clock,
    health: &PollHealth,
    stop: &CancellationToken,
) -> Result<BotIdentity, AppError> {
    let mut backoff = Backoff::default();
    let mut was_refused = false;
    loop {
        let asked = tokio::select! {
            () = stop.cancelled() => return Err(AppError::StoppedEarly),
            asked = telegram.get_me() => asked,
        };
        match asked {
            Ok(bot) => return Ok(bot),
            // A single refusal may be a network fault, so the request is repeated once.
            Err(TelegramError::Unauthorized) if was_refused => return Err(AppError::TokenRefused),
            Err(error) => {
                was_refused = matches!(error, TelegramError::Unauthorized);
                match &error {
                    TelegramError::Unauthorized => tracing::warn!("Telegram refuses the bot token, asking once more"),
                    TelegramError::LoggedOut | TelegramError::Refused { .. } => {
                        tracing::warn!(%error, "the Bot API server does not serve the bot, trying again");
                    }
                    _ => tracing::warn!(%error, "Telegram cannot be reached, trying again"),
                }
                health.note(clock, Some((TroubleKind::Polling, error.to_string())));
                service::waiting();
            }
        }
        tokio::select! {
            () = stop.cancelled() => return Err(AppError::StoppedEarly),
            () = clock.sleep(backoff.failed(random())) => {}
        }
    }
}

/// Opens the address that the setting `key` names, and starts the task `name`, which serves `router` there.
pub(super) async fn serve(
    tasks: &mut Tasks,
    name: &'static str,
    key: &'static str,
    address: SocketAddr,
    router: Router,
) -> Result<(), AppError> {
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|source| AppError::Address { key, address, source })?;
    tasks.spawn(name, |stop| async move {
        chime_console::serve(listener, router, stop).await;
        Ok(())
    });
    Ok(())
}
