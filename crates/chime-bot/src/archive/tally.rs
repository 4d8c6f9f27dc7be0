//! Counts messages of an import by result.

use std::collections::BTreeMap;

use chime_core::ChatId;

/// Counts of messages for one chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatTally {
    pub title: Option<String>,
    pub added: u64,
    /// Messages that were stored already, from an earlier import or because the bot was in the chat.
    pub known: u64,
    /// Messages stored without content, because the author opted out or they were forgotten.
    pub stubs: u64,
    /// Messages that are not stored because their retention is over.
    pub expired: u64,
    pub unreadable: u64,
}

/// Counts of a whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    pub chats: BTreeMap<ChatId, ChatTally>,
    /// Names of skipped chats, each with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Tally {
    pub fn add(&mut self, chat: ChatId, counts: ChatTally) {
        let ChatTally { title, added, known, stubs, expired, unreadable } = counts;
        let all = self.chats.entry(chat).or_default();
        all.title = title;
        all.added += added;
        all.known += known;
        all.stubs += stubs;
        all.expired += expired;
        all.unreadable += unreadable;
    }

    pub fn messages(&self) -> u64 {
        self.chats.values().map(|chat| chat.added + chat.known + chat.stubs + chat.expired + chat.unreadable).sum()
    }
}
