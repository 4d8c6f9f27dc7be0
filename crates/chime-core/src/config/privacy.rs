//! Configuration of retention and of the privacy notice.

use std::time::Duration;

use crate::config::keys;
use crate::config::settings::Settings;

const DAY: Duration = Duration::from_hours(24);
/// Largest number of days, a hundred years. Messages are kept forever with 0.
const MOST_DAYS: usize = 36_500;

/// Retention period, and contact of the operator for members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivacyConfig {
    /// `RETENTION_DAYS`, default 365. `None` (0 days) keeps messages forever. A chat may have a period of its own.
    pub retention: Option<Duration>,
    pub operator_contact: Option<String>,
    /// `true` if chats receive a privacy notice. `false` only in environments without other people, such as the demo.
    pub announces: bool,
}

impl PrivacyConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        Self {
            retention: retention(settings.count(&keys::RETENTION_DAYS, 0..=MOST_DAYS)),
            operator_contact: settings.text(&keys::OPERATOR_CONTACT, "a name, an address or a link, on one line"),
            announces: true,
        }
    }
}

/// Converts days to a retention period; 0 means forever.
pub fn retention(days: usize) -> Option<Duration> {
    (days > 0).then(|| DAY * u32::try_from(days).unwrap_or(u32::MAX))
}
