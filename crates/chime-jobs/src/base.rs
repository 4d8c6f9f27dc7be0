//! Handles and settings that all parts of the daemon use.

use std::sync::Arc;

use crate::worker::Wake;
use chime_core::config::Config;
use chime_core::{BotIdentity, Zone};
use chime_runtime::clock::Clock;
use chime_store::Store;
use chime_telegram::Telegram;

/// Handles and settings that all parts of the daemon use. Clones share them.
#[derive(Clone)]
pub struct Base {
    pub store: Store,
    pub telegram: Telegram,
    pub clock: Clock,
    pub wake: Wake,
    pub bot: BotIdentity,
    pub config: Arc<Config>,
}

impl Base {
    /// Returns the time zone of chats that have set none.
    pub fn zone(&self) -> Zone {
        self.config.time.zone
    }
}
