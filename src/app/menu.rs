//! Sets the bot's command menu and short description on Telegram.

use std::collections::VecDeque;

use tokio_util::sync::CancellationToken;

use crate::app::error::AppError;
use chime_core::texts::menus;
use chime_privacy::{PrivacyFacts, wording};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::{Backoff, random};
use chime_telegram::{Telegram, TelegramError};

/// Task that sets the command menus and the description once, and tries again until it succeeds. No other task needs
/// them.
pub struct Menu {
    pub telegram: Telegram,
    pub clock: Clock,
    pub privacy_facts: PrivacyFacts,
}

impl Menu {
    pub async fn run(self, stop: CancellationToken) -> Result<(), AppError> {
        let mut backoff = Backoff::default();
        let mut left: VecDeque<_> = menus().collect();
        while let Err(error) = self.introduce(&mut left).await {
            tracing::info!(%error, "command menu and description could not be set");
            if error.is_lasting() {
                break;
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.clock.sleep(backoff.failed(random())) => {}
            }
        }
        // The daemon stops when any task ends, so this one stays until the stop.
        stop.cancelled().await;
        Ok(())
    }

    /// Sets each menu in `left` and removes it from there, then sets the description.
    async fn introduce(&self, left: &mut VecDeque<(&str, Vec<(&str, &str)>)>) -> Result<(), TelegramError> {
        while let Some((language, commands)) = left.front() {
            // The English menu is set without a language: Telegram shows it to users without a menu in their own.
            let language = (*language != "en").then_some(*language);
            self.telegram.set_commands(commands, language).await?;
            left.pop_front();
        }
        // Keeps a description that the operator has written.
        if self.telegram.short_description().await?.is_empty() {
            self.telegram.set_short_description(&wording::in_a_line(self.privacy_facts.retention)).await?;
        }
        Ok(())
    }
}
