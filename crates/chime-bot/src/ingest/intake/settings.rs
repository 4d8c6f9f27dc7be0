//! Settings for taking in updates.

use std::time::Duration;

use chime_access::ClaimCode;
use chime_core::BotIdentity;
use chime_core::config::{AccessConfig, RateLimit};
use chime_core::trigger::Languages;

#[derive(Debug)]
pub struct IntakeSettings {
    pub bot: BotIdentity,
    pub access: AccessConfig,
    /// Code with which a user becomes the owner; `None` if the bot has an owner.
    pub claim: Option<ClaimCode>,
    /// `true` if chats get the privacy notice.
    pub announces: bool,
    pub languages: &'static Languages,
    pub backlog_max_age: Duration,
    /// Rate limit of triggers; `None` for no limit.
    pub rate: Option<RateLimit>,
    /// `true` if voice messages are transcribed.
    pub transcribes: bool,
}
