//! Facts about this bot that its privacy texts state.

use std::time::Duration;

use chime_core::Announced;

/// Facts about this bot that its privacy texts state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivacyFacts {
    /// Username of the bot, without `@`.
    pub username: String,
    /// Host that receives text for answers; `None` if nothing leaves this machine.
    pub model_host: Option<String>,
    /// `true` if that host receives every message, not only those that an answer needs.
    pub sends_all: bool,
    /// `true` if conversations are summarized in the background.
    pub remembers: bool,
    /// `true` if that host transcribes voice messages.
    pub transcribes: bool,
    /// The operator's retention; `None` keeps messages forever.
    pub retention: Option<Duration>,
    pub contact: Option<String>,
}

impl PrivacyFacts {
    /// Returns the features that the privacy notice mentions.
    pub fn announces(&self) -> Announced {
        Announced { memory: self.remembers, voice: self.transcribes }
    }
}

/// Returns the command with the bot's username: in a group the bare command addresses every bot.
pub(super) fn command(facts: &PrivacyFacts, name: &str) -> String {
    format!("/{name}@{}", escaped(&facts.username))
}

pub(super) fn escaped(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>').then_some('\\').into_iter().chain([c])
        })
        .collect()
}
