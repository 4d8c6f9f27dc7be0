//! Configuration of the memory (sessions and summaries) and of redaction.

use std::time::Duration;

use crate::ChatKind;
use crate::config::keys;
use crate::config::settings::Settings;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryConfig {
    pub is_on: bool,
    pub idle: SessionIdle,
    pub max_messages: u32,
    pub max_history: usize,
    pub redaction: Redaction,
}

/// A silence *longer* than this ends a session, unless the chat has a setting of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionIdle {
    pub in_groups: Duration,
    pub in_private: Duration,
}

impl SessionIdle {
    pub fn in_chats_of(self, kind: ChatKind) -> Duration {
        if kind == ChatKind::Private { self.in_private } else { self.in_groups }
    }
}

/// Requests to servers from which personal data and secrets are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redaction {
    Off,
    /// Requests for summaries and embeddings.
    Summaries,
    /// Requests for summaries and embeddings, and also for answers.
    All,
}

impl MemoryConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let idle = Duration::from_mins(1)..=Duration::from_hours(24);
        let redactions = [("off", Redaction::Off), ("summaries", Redaction::Summaries), ("all", Redaction::All)];
        let max_messages = settings.count(&keys::SESSION_MAX_MESSAGES, 20..=2000);
        Self {
            is_on: settings.choice(&keys::MEMORY, &[("on", true), ("off", false)]),
            idle: SessionIdle {
                in_groups: settings.duration(&keys::SESSION_IDLE, idle.clone()),
                in_private: settings.duration(&keys::SESSION_IDLE_PRIVATE, idle),
            },
            max_messages: u32::try_from(max_messages).unwrap_or(u32::MAX),
            max_history: settings.count(&keys::MAX_CHAT_HISTORY, 10..=200),
            redaction: settings.choice(&keys::REDACT, &redactions),
        }
    }
}
