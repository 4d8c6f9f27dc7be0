//! Adds a privacy notice to the first answer in a chat that has not had one.

use crate::answering::services::Services;
use chime_core::{Announced, ChatKey, ChatKind, FormattedText, Timestamp, utf16_len};
use chime_privacy::{NoticeKind, group_notice, private_notice};
use chime_store::chats::{self, ChatRow};
use chime_store::{Reader, Writer, announcements, outbox};
use chime_telegram::{MAX_ENTITIES, MAX_UNITS, to_entities};

/// Returns the notice for `chat`; `None` if the chat has had it or the operator switched announcements off.
pub fn due(conn: &Reader, services: &Services, chat: &ChatRow) -> chime_store::Result<Option<FormattedText>> {
    if !services.base.config.privacy.announces || announcements::is_told(conn, chat.key)? {
        return Ok(None);
    }
    let retention = chats::own_retention(conn, chat.key)?.unwrap_or(services.privacy_facts.retention);
    let (facts, code) = (&services.privacy_facts.named(services.base.bot()), chat.speaks().code());
    let words = match chat.chat.kind {
        ChatKind::Private => private_notice(facts, retention, code),
        ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => {
            group_notice(facts, retention, NoticeKind::Everything, code)
        }
    };
    Ok(Some(to_entities(&words)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticePosition {
    pub part: usize,
    /// Length in bytes of the answer text in that part, before the notice.
    pub talk_end: usize,
}

impl NoticePosition {
    /// Stores that the reply `key` contains the notice to `chat`, where it begins, and which facts it announced.
    pub fn note(
        self,
        tx: &Writer<'_>,
        key: &str,
        chat: ChatKey,
        announced: Announced,
        now: Timestamp,
    ) -> chime_store::Result<()> {
        outbox::set_talk_end(tx, key, self.part, self.talk_end)?;
        announcements::write(tx, chat, announced, now)
    }
}

/// Appends the notice `words` to the last part of an answer, or adds it as a new part if the last one has no room.
pub fn append(parts: &mut Vec<FormattedText>, words: FormattedText) -> NoticePosition {
    const BETWEEN: &str = "\n\n";
    let units = utf16_len(BETWEEN) + utf16_len(&words.text);
    let has_room = |last: &&mut FormattedText| {
        utf16_len(&last.text) + units <= MAX_UNITS && last.entities.len() + words.entities.len() <= MAX_ENTITIES
    };
    match parts.last_mut().filter(has_room) {
        Some(last) => {
            let talk_end = last.text.len();
            last.push(BETWEEN, words);
            NoticePosition { part: parts.len() - 1, talk_end }
        }
        None => {
            parts.push(words);
            NoticePosition { part: parts.len() - 1, talk_end: 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn appended(answer: &str) -> Vec<String> {
        let mut parts = vec![FormattedText::plain(answer)];
        append(&mut parts, to_entities("I **read** this."));
        parts.iter().map(|part| format!("{}|{}", part.text.len(), part.entities.len())).collect()
    }

    #[test]
    fn it_stands_below_the_answer_or_after_a_full_one() {
        assert_eq!(appended("Ben."), ["18|1"]);
        assert_eq!(appended(&"x".repeat(4090)), ["4090|0", "12|1"]);
    }
}
