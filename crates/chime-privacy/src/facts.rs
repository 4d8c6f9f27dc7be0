//! Facts about this bot that its privacy texts state.

use std::time::Duration;

use chime_core::{Announced, BotIdentity, escape_marks, is_loopback};

/// Configuration of the bot as its privacy texts describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivacyFacts {
    /// Username of the bot, without `@`.
    pub username: String,
    /// Hosts of the model servers, which receive the messages that an answer needs. Empty without a model: then no text
    /// leaves this machine.
    pub model_hosts: Vec<String>,
    /// `true` if every message is sent to a model server, not only those that an answer needs.
    pub sends_all: bool,
    pub remembers: bool,
    /// `true` if mail addresses, numbers and keys are removed from what is sent for a summary.
    pub redacts: bool,
    /// `true` if the bot opens links that a question is about.
    pub opens_links: bool,
    /// `true` if voice messages are sent to a model server for transcription.
    pub transcribes: bool,
    /// Host of the service that searches the web, if the operator chose one.
    pub search_host: Option<String>,
    /// Retention period that the operator chose; `None` keeps messages forever. A chat may have its own.
    pub retention: Option<Duration>,
    /// Contact of the operator for members, if set.
    pub contact: Option<String>,
}

impl PrivacyFacts {
    /// Formats the hosts of the model servers for Markdown, without this machine, which no message leaves for it.
    /// `None` if no other is left.
    pub(super) fn hosts(&self) -> Option<String> {
        let others = self.model_hosts.iter().filter(|host| !is_loopback(host));
        let hosts: Vec<String> = others.map(|host| format!("`{host}`")).collect();
        (!hosts.is_empty()).then(|| hosts.join(", "))
    }

    /// Returns the facts with the present username of the bot.
    pub fn named(&self, bot: &BotIdentity) -> Self {
        Self { username: bot.username().to_owned(), ..self.clone() }
    }

    pub fn announces(&self) -> Announced {
        Announced { memory: self.remembers, voice: self.transcribes }
    }
}

/// Formats `/name@username` for Markdown. The username is needed because in a group a command without it addresses
/// every bot.
pub(super) fn command(facts: &PrivacyFacts, name: &str) -> String {
    format!("/{name}@{}", escape_marks(&facts.username))
}
