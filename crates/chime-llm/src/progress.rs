//! The text of an answer while it is written.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Where a model's words go as they come, for whoever shows them. An answer of which something was shown is not asked for
/// again: the words would change under the reader.
#[derive(Debug, Default)]
pub struct Progress {
    text: watch::Sender<String>,
    is_shown: AtomicBool,
}

impl Progress {
    /// The text so far, without thoughts; waits with the receiver for more.
    pub fn watch(&self) -> watch::Receiver<String> {
        self.text.subscribe()
    }

    /// Somebody has seen some of it.
    pub fn note_shown(&self) {
        self.is_shown.store(true, Ordering::Relaxed);
    }

    pub fn is_shown(&self) -> bool {
        self.is_shown.load(Ordering::Relaxed)
    }

    pub(super) fn write(&self, text: &str) {
        self.text.send_if_modified(|known| {
            let is_news = known != text;
            if is_news {
                text.clone_into(known);
            }
            is_news
        });
    }
}
