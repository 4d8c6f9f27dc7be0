//! Reasons why the daemon could not start or had to stop.

use std::net::SocketAddr;

use chime_bot::ingest::intake::PollEnd;
use chime_core::embed::EmbedError;
use chime_core::prompts::PromptError;
use chime_store::StoreError;

/// Reason why the daemon could not start or had to stop. `cli` gives each an exit code.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("PROMPTS_DIR cannot be used")]
    Prompts(#[from] PromptError),
    #[error(
        "Telegram refuses the bot token: it is wrong or was revoked; copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN"
    )]
    TokenRefused,
    #[error("the HTTP client cannot be set up: {0}")]
    Http(String),
    #[error("stopped before Telegram could be reached")]
    StoppedEarly,
    #[error("{key} {address} cannot be served: {source}")]
    Address { key: &'static str, address: SocketAddr, source: std::io::Error },
    #[error("EMBEDDING: {0}")]
    Embedding(EmbedError),
    #[error("{0}")]
    Task(String),
}

impl From<PollEnd> for AppError {
    fn from(end: PollEnd) -> Self {
        match end {
            PollEnd::TokenRefused => Self::TokenRefused,
            PollEnd::Store(error) => Self::Store(error),
        }
    }
}
