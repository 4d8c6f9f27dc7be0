//! Configuration that taking in an update needs.

use std::time::Duration;

use chime_access::ClaimCode;
use chime_core::BotIdentity;
use chime_core::config::{AccessConfig, RateLimit};
use chime_core::trigger::Languages;

/// Configuration that taking in an update needs.
#[derive(Debug)]
pub struct IntakeSettings {
    pub bot: BotIdentity,
    pub access: AccessConfig,
    /// Code for claiming the bot, if it has no owner yet.
    pub claim: Option<ClaimCode>,
    /// `true` if chats get a notice about the data that is kept.
    pub announces: bool,
    pub languages: &'static Languages,
    pub backlog_max_age: Duration,
    /// `None` for no rate limit.
    pub rate: Option<RateLimit>,
    /// `true` if voice messages are transcribed.
    pub transcribes: bool,
}
