//! Whom a message addresses and whom it names.

use std::sync::Arc;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, QuickSet, Token};
use chime_core::UserId;

/// People whose mention counts, in the order of their appearance.
const MAX_MENTIONS: usize = 6;

/// Whom a message names, among members who have spoken before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Whom it names, its author left out.
    pub mentions: Vec<UserId>,
    /// Whom it is addressed to at its start.
    pub first: Option<UserId>,
}

/// The names of the members who have spoken.
#[derive(Debug, Default)]
pub struct Names {
    /// The member of each name; none where several share it.
    bearers: Quick<Token, Option<UserId>>,
    stems: QuickSet<Token>,
}

impl Names {
    fn add(&mut self, message: &MessageFeatures) {
        for name in &*message.author_names {
            let bearer = self.bearers.entry(*name).or_insert(Some(message.author));
            *bearer = bearer.filter(|known| *known == message.author);
        }
        self.stems.extend(&message.author_stems);
    }

    /// Whether a stem is of somebody's name.
    pub fn has(&self, stem: Token) -> bool {
        self.stems.contains(&stem)
    }

    /// Whom `message` names: by Telegram's own entities first, then at its start, then elsewhere.
    fn heard(&self, message: &MessageFeatures) -> Heard {
        let other = |id: &UserId| *id != message.author;
        let bearer = |name: &Token| self.bearers.get(name).copied().flatten();
        let first = message.lead.as_ref().and_then(bearer).filter(other);
        let mut mentions = Vec::new();
        let all = message.mentioned.iter().copied().chain(first).chain(message.named.iter().filter_map(bearer));
        for id in all.filter(other) {
            if !mentions.contains(&id) && mentions.len() < MAX_MENTIONS {
                mentions.push(id);
            }
        }
        Heard { mentions, first }
    }
}

/// Whom a message and those before it name.
#[derive(Debug)]
pub struct Hearing {
    pub names: Names,
    /// Of each of those before it.
    pub past: Vec<Heard>,
    pub message: Heard,
}

impl Hearing {
    pub fn of(past: &[Arc<MessageFeatures>], message: &MessageFeatures) -> Self {
        let mut names = Names::default();
        past.iter().for_each(|one| names.add(one));
        names.add(message);
        Self { past: past.iter().map(|one| names.heard(one)).collect(), message: names.heard(message), names }
    }
}
