//! Loads the photos that a question is about, for models with vision.

use std::time::Duration;

use futures::future::join_all;

use crate::answering::question::{QuestionContext, ShownPhoto};
use crate::answering::services::Services;
use chime_core::config::Redaction;
use chime_core::{Kind, StoredMessage};
use chime_runtime::resilience::within;
use chime_store::{Reader, messages};

/// Maximum number of photos shown for one answer.
const MOST: usize = 3;
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Maximum time for the download of a photo.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns at most three photos: from the trigger, from the message it replies to, and the newest ones of the focus.
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
    let trigger = question.trigger();
    let anchor = question.window.anchor_entry().map(|entry| &entry.message);
    let focus: Vec<&StoredMessage> = question.window.focus().map(|entry| &entry.message).collect();
    let all = [Some(trigger), anchor].into_iter().flatten().chain(focus.into_iter().rev());
    all.filter(|stored| stored.message.kind == Kind::Photo).cloned().collect()
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
