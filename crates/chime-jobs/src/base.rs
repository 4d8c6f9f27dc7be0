//! Handles and settings that all parts of the daemon use.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::worker::Wake;
use chime_core::config::Config;
use chime_core::{BotIdentity, Zone};
use chime_runtime::clock::Clock;
use chime_store::Store;
use chime_telegram::{Telegram, TelegramError};

/// Handles and settings that all parts of the daemon use. Clones share them.
#[derive(Clone)]
pub struct Base {
    pub store: Store,
    pub telegram: Telegram,
    pub clock: Clock,
    pub wake: Wake,
    pub config: Arc<Config>,
    /// Never freed, so that borrowers need no lock: a bot is renamed a few times in its life.
    bot: Arc<Mutex<&'static BotIdentity>>,
}

impl Base {
    pub fn new(store: Store, telegram: Telegram, clock: Clock, bot: BotIdentity, config: Config) -> Self {
        let bot = Arc::new(Mutex::new(leaked(bot)));
        Self { store, telegram, clock, wake: Wake::default(), config: Arc::new(config), bot }
    }

    /// Returns the identity of the bot, as Telegram told it last.
    pub fn bot(&self) -> &'static BotIdentity {
        *self.bot.lock()
    }

    /// Asks Telegram for the identity of the bot, which its owner may change while the bot runs.
    pub async fn refresh_bot(&self) -> Result<(), TelegramError> {
        let bot = self.telegram.get_me().await?;
        if bot != *self.bot() {
            tracing::info!(
                reads_all = bot.reads_all_group_messages,
                "Telegram tells a new identity of the bot: it is @{} now",
                bot.username()
            );
            *self.bot.lock() = leaked(bot);
        }
        Ok(())
    }

    /// Returns the time zone of chats that have set none.
    pub fn zone(&self) -> Zone {
        self.config.time.zone
    }
}

fn leaked(bot: BotIdentity) -> &'static BotIdentity {
    Box::leak(Box::new(bot))
}
