//! Loads the photos that a question is about, for models with vision.

use std::time::Duration;

use futures::future::join_all;

use crate::answering::Answering;
use crate::answering::question::{QuestionContext, ShownPhoto};
use chime_core::config::Redaction;
use chime_core::{Kind, MessageAt, Seq, StoredMessage};
use chime_runtime::resilience::within;
use chime_store::{Reader, inbox, messages};
use chime_telegram::{Photo, photo};

/// Maximum number of photos shown for one answer.
const MOST: usize = 3;
/// Maximum width and height in pixels. A menu can be read at this size, and a larger one costs more tokens.
const MOST_DOTS: u64 = 1_280;
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Maximum time for the download of a photo.
const PATIENCE: Duration = Duration::from_secs(10);

impl Answering {
    /// Returns at most three photos: those of the trigger, of the message it replies to, and the newest of the focus.
    /// Errors are logged. Personal data in a photo cannot be masked, so under [`Redaction::All`] there are none.
    pub(super) async fn look_at(&self, question: &QuestionContext) -> Vec<ShownPhoto> {
        let candidates = candidates(question);
        if candidates.is_empty() || self.parts.redaction == Redaction::All {
            return Vec::new();
        }
        let found = self.parts.store.read(move |conn| find(conn, &candidates)).await;
        let found = found.unwrap_or_else(|error| {
            tracing::warn!(%error, "no photo is shown");
            Vec::new()
        });
        let fetched = join_all(found.into_iter().map(|(seq, photo)| self.fetch(seq, photo))).await;
        fetched.into_iter().flatten().collect()
    }

    async fn fetch(&self, seq: Seq, photo: Photo) -> Option<ShownPhoto> {
        let fetching = self.parts.telegram.download(&photo.id, MOST_BYTES);
        match within(&self.parts.clock, PATIENCE, fetching).await? {
            Ok(bytes) => bytes.map(|bytes| ShownPhoto { seq, bytes: bytes.into() }),
            Err(error) => {
                tracing::warn!(%error, "a photo cannot be fetched and is not shown");
                None
            }
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

/// Returns the photos of `candidates` and of their albums, as far as Telegram's file ids are known.
fn find(conn: &Reader, candidates: &[StoredMessage]) -> chime_store::Result<Vec<(Seq, Photo)>> {
    let mut found: Vec<(Seq, Photo)> = Vec::new();
    for candidate in candidates {
        let mut near = vec![candidate.clone()];
        if let Some(album) = &candidate.message.album {
            near.extend(messages::album(conn, candidate.message.chat, album)?);
        }
        for stored in near {
            let is_known = found.iter().any(|(seq, _)| *seq == stored.seq);
            if found.len() < MOST && !is_known {
                found.extend(of_message(conn, &stored)?.map(|photo| (stored.seq, photo)));
            }
        }
    }
    found.sort_unstable_by_key(|(seq, _)| *seq);
    Ok(found)
}

fn of_message(conn: &Reader, stored: &StoredMessage) -> chime_store::Result<Option<Photo>> {
    // Telegram's file id is in the raw update of the message itself, or in the update of a reply to it. The newest
    // update is read first, since an edit may replace the photo.
    let raws = inbox::that_hold(conn, stored.message.chat, stored.message.id)?;
    Ok(raws.iter().find_map(|raw| photo(raw, MessageAt::of(stored), MOST_DOTS)))
}
