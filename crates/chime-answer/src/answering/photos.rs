//! Loads the photos that a question is about, for models with vision.

use std::time::Duration;

use futures::future::join_all;

use crate::answering::question::{QuestionContext, ShownPhoto};
use crate::answering::services::Services;
use crate::extractive_ranking::shared_word_count;
use chime_core::config::Redaction;
use chime_core::lang::begins_like;
use chime_core::{Kind, Part, StoredMessage, lower_words};
use chime_relevance::context::Entry;
use chime_runtime::resilience::within;
use chime_store::{Reader, messages};

/// Maximum number of photos shown for one answer.
const MOST: usize = 3;
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Maximum time for the download of a photo.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns at most three photos: from the trigger, from the message it replies to, and the shown ones that the question
/// is about.
/// Errors are logged. Personal data in a photo cannot be masked, so under [`Redaction::All`] there are none.
pub(super) async fn load_photos(services: &Services, question: &QuestionContext) -> Vec<ShownPhoto> {
    let candidates = candidates(question);
    if candidates.is_empty() || services.base.config.memory.redaction == Redaction::All {
        return Vec::new();
    }
    let found = services.base.store.read(move |conn| find(conn, &candidates)).await;
    let found = found.unwrap_or_else(|error| {
        tracing::warn!(%error, "no photo is shown");
        Vec::new()
    });
    let fetched = join_all(found.iter().map(|stored| download(services, stored))).await;
    fetched.into_iter().flatten().collect()
}

async fn download(services: &Services, stored: &StoredMessage) -> Option<ShownPhoto> {
    let fetching = services.base.telegram.download(&stored.message.file.as_ref()?.id, MOST_BYTES);
    match within(&services.base.clock, PATIENCE, fetching).await? {
        Ok(bytes) => bytes.map(|bytes| ShownPhoto { seq: stored.seq, bytes: bytes.into() }),
        Err(error) => {
            tracing::warn!(%error, "a photo cannot be fetched and is not shown");
            None
        }
    }
}

/// Returns the messages with a photo, most important first. The other photos of an album are added by [`find`].
fn candidates(question: &QuestionContext) -> Vec<StoredMessage> {
    let (trigger, ask) = (question.trigger(), &question.history.ask);
    let anchor = question.window.anchor_entry().map(|entry| &entry.message);
    let has_word = lower_words(ask).iter().any(|word| begins_like(word, |language| &language.photos));
    let is_photo = |stored: &StoredMessage| stored.message.kind == Kind::Photo;
    // A tag without words is about the newest message of the focus, and a question may be about the one just above it.
    let newest = if question.generic { question.window.focus().last() } else { question.window.entries.last() };
    let newest = newest.map(|entry| entry.message.seq);
    let is_meant = |entry: &&Entry| {
        let stored = &entry.message;
        let is_with_own = is_photo(trigger) && entry.part() == Part::Focus;
        has_word || is_with_own || Some(stored.seq) == newest || shared_word_count(ask, &stored.message.text) > 0
    };
    let shown = question.window.entries.iter().rev().filter(is_meant).map(|entry| &entry.message);
    let all = [Some(trigger), anchor].into_iter().flatten().chain(shown);
    all.filter(|stored| is_photo(stored)).cloned().collect()
}

/// Returns the messages with a photo among `candidates` and their albums, in the order in which they were sent.
fn find(conn: &Reader, candidates: &[StoredMessage]) -> chime_store::Result<Vec<StoredMessage>> {
    let mut found: Vec<StoredMessage> = Vec::new();
    for candidate in candidates {
        let mut near = vec![candidate.clone()];
        if let Some(album) = &candidate.message.album {
            near.extend(messages::album(conn, candidate.message.chat, album)?);
        }
        for stored in near {
            let is_photo = stored.message.kind == Kind::Photo && stored.message.file.is_some();
            if found.len() < MOST && is_photo && found.iter().all(|known| known.seq != stored.seq) {
                found.push(stored);
            }
        }
    }
    found.sort_unstable_by_key(|stored| stored.message.id);
    Ok(found)
}
