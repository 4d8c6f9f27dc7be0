//! What members are promised.

use std::time::Duration;

use crate::config::keys;
use crate::config::settings::{Noted, Settings};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A hundred years: whoever wants more means 0.
const MOST_DAYS: usize = 36_500;

/// How long messages are kept, and who answers for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivacyConfig {
    /// `RETENTION_DAYS`, default 365 days; none (0) keeps messages for good. A chat may have its own.
    pub retention: Option<Duration>,
    /// `OPERATOR_CONTACT`, default none: shown to members.
    pub operator_contact: Option<String>,
    /// Whether chats are told what is kept of them. Always, except in worlds of our own without people, like the demo.
    pub announces: bool,
}

impl PrivacyConfig {
    pub fn load(settings: &Settings<'_>) -> Result<Self, Noted> {
        let days = settings.count(&keys::RETENTION_DAYS, 0..=MOST_DAYS);
        let operator_contact = settings.text(&keys::OPERATOR_CONTACT, "a name, an address or a link, on one line");
        Ok(Self { retention: retention(days?), operator_contact: operator_contact?, announces: true })
    }
}

/// Days as set; 0 is for good.
pub fn retention(days: usize) -> Option<Duration> {
    (days > 0).then(|| DAY * u32::try_from(days).unwrap_or(u32::MAX))
}
