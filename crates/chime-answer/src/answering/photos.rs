//! The photos that a question is about, for models that see.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;

use crate::answering::Answering;
use crate::answering::question::Question;
use chime_core::config::Redaction;
use chime_core::{Kind, MessageAt, Seq, StoredMessage};
use chime_runtime::resilience::within;
use chime_store::{Reader, inbox, messages};
use chime_telegram::{Photo, photo};

/// Photos that are shown for one answer, at most.
const MOST: usize = 3;
/// Dots in width and height: what is written on a menu can be read, and a larger size costs more tokens.
const MOST_DOTS: u64 = 1_280;
const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Longer no answer waits for a photo.
const PATIENCE: Duration = Duration::from_secs(10);

/// A photo that the model is shown.
#[derive(Debug, Clone)]
pub struct ShownPhoto {
    /// Its message.
    pub seq: Seq,
    pub bytes: Arc<[u8]>,
}

impl Answering {
    /// The photos of the trigger, of what it replies to, and the newest of the focus. They only enrich. A photo cannot be
    /// redacted: where everything that leaves is, none does.
    pub(super) async fn look_at(&self, question: &Question) -> Vec<ShownPhoto> {
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

/// Messages that may have a photo to show, the first ones first. Of an album the others are found later.
fn candidates(question: &Question) -> Vec<StoredMessage> {
    let trigger = question.trigger();
    let anchor = question.window.anchor_entry().map(|entry| &entry.message);
    let focus: Vec<&StoredMessage> = question.window.focus().map(|entry| &entry.message).collect();
    let all = [Some(trigger), anchor].into_iter().flatten().chain(focus.into_iter().rev());
    all.filter(|stored| stored.message.kind == Kind::Photo).cloned().collect()
}

/// The photos of `candidates` and of their albums, as far as their files are known.
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
    // Its own update, or that of a reply to it: the newest first, since an edit may have brought another photo.
    let raws = inbox::that_hold(conn, stored.message.chat, stored.message.id)?;
    Ok(raws.iter().find_map(|raw| photo(raw, MessageAt::of(stored), MOST_DOTS)))
}
