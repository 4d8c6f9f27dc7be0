//! All that is older than the candidates, as the store keeps it: a few looks into the full-text index, a few dozen rows.

use std::sync::Arc;

use crate::context::features::message::MessageFeatures;
use crate::context::history::History;
use crate::context::params::Params;
use crate::context::retrieval::archive::{Archive, find};
use crate::context::retrieval::found::Found;
use crate::context::retrieval::passages::MOST_OF_A_WORD;
use crate::context::retrieval::query::{Sought, Word};
use crate::context::run::precomputed::Readings;
use crate::domain::{Seq, StoredMessage};
use crate::store::{self, Language, Reader, chats, messages, search};

/// What answers `sought` further back. It only enriches: where the index cannot be read, there is nothing.
pub fn look_further_back(
    conn: &Reader,
    (history, params): (&History, &Params),
    sought: &Sought,
    readings: &Readings,
) -> Found {
    let found = chats::find(conn, history.trigger.message.chat).and_then(|chat| {
        let language = chat.map_or(Language::DEFAULT, |row| row.language);
        let kept = Kept { conn, trigger: &history.trigger, language, readings };
        find(&kept, sought, &params.scorers.links)
    });
    found.unwrap_or_else(|error| {
        tracing::warn!(%error, "nothing older than the last messages is looked at");
        Found::default()
    })
}

/// The trigger's conversation in the store.
struct Kept<'a> {
    conn: &'a Reader,
    trigger: &'a StoredMessage,
    language: Language,
    readings: &'a Readings,
}

impl Archive for Kept<'_> {
    type Error = store::StoreError;

    fn newest(&self, word: &Word, before: Seq) -> store::Result<Vec<Seq>> {
        search::newest_with(self.conn, self.trigger.chat, (self.language, &word.text), before, MOST_OF_A_WORD)
    }

    fn between(&self, range: (Seq, Seq)) -> store::Result<Vec<StoredMessage>> {
        messages::between(self.conn, self.trigger.conversation(), range)
    }

    fn around(&self, hit: Seq, (back, forth): (usize, usize)) -> store::Result<Vec<StoredMessage>> {
        let Some(hit) = messages::by_seq(self.conn, self.trigger.chat, hit)? else { return Ok(Vec::new()) };
        let moment = (hit.message.sent_at, hit.message.id);
        let mut talk = messages::before(self.conn, self.trigger.conversation(), moment, back)?;
        talk.push(hit);
        talk.extend(messages::after(self.conn, self.trigger.conversation(), moment, forth)?);
        Ok(talk)
    }

    fn readings(&self, messages: &[StoredMessage]) -> store::Result<Vec<Arc<MessageFeatures>>> {
        self.readings.further_back(self.conn, messages)
    }
}

#[cfg(test)]
mod tests;
