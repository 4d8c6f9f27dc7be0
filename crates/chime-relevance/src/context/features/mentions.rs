//! Finds the members that a message addresses or names.

use std::sync::Arc;

use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, QuickSet, Token};
use chime_core::UserId;

/// Maximum number of members that count as named by a message: the first ones.
const MAX_MENTIONS: usize = 6;

/// Members that a message names. Only members who wrote one of the messages before it are recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedMembers {
    /// Members that the message names, without its author, in the order in which they are found.
    pub mentions: Vec<UserId>,
    /// Member addressed at the start of the message ("Ann, …"); `None` if there is no such name or several members have
    /// it.
    pub first: Option<UserId>,
}

#[derive(Debug, Default)]
pub struct Names {
    /// Member of each name; `None` if several members have that name.
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

    /// Returns `true` if a stem belongs to a member's name.
    pub fn has(&self, stem: Token) -> bool {
        self.stems.contains(&stem)
    }

    /// Returns the members that `message` names: first those in Telegram's entities, then the one at its start, then
    /// all others.
    fn heard(&self, message: &MessageFeatures) -> NamedMembers {
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
        NamedMembers { mentions, first }
    }
}

/// Members named by a message and by each message before it.
#[derive(Debug)]
pub struct NamedInHistory {
    pub names: Names,
    /// Members named by each message before it, in the same order.
    pub past: Vec<NamedMembers>,
    pub message: NamedMembers,
}

impl NamedInHistory {
    pub fn of(past: &[Arc<MessageFeatures>], message: &MessageFeatures) -> Self {
        let mut names = Names::default();
        past.iter().for_each(|one| names.add(one));
        names.add(message);
        Self { past: past.iter().map(|one| names.heard(one)).collect(), message: names.heard(message), names }
    }
}
