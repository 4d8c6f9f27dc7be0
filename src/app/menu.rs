//! Tells Telegram which commands there are.

use tokio_util::sync::CancellationToken;

use crate::app::AppError;
use crate::clock::Clock;
use crate::commands::COMMANDS;
use crate::resilience::{Backoff, random};
use crate::telegram::Telegram;

/// Sets the command menu once, however long that takes. Nothing waits for it.
pub struct Menu {
    pub telegram: Telegram,
    pub clock: Clock,
}

impl Menu {
    pub async fn run(self, stop: CancellationToken) -> Result<(), AppError> {
        let mut backoff = Backoff::default();
        while let Err(error) = self.telegram.set_commands(&COMMANDS).await {
            tracing::info!(%error, "the command menu could not be set, trying again");
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(backoff.failed(random())) => {}
            }
        }
        // A task that ends stops the daemon.
        stop.cancelled().await;
        Ok(())
    }
}
