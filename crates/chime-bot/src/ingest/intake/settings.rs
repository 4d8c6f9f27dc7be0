//! Settings for taking in updates.

use std::sync::Arc;

use chime_access::ClaimCode;
use chime_core::BotIdentity;
use chime_core::config::Config;

#[derive(Debug)]
pub struct IntakeSettings {
    pub bot: &'static BotIdentity,
    pub config: Arc<Config>,
    /// Code with which a user becomes the owner; `None` if the bot has an owner.
    pub claim: Option<ClaimCode>,
    /// `true` if a server makes the vectors of messages.
    pub fetches_vectors: bool,
}
