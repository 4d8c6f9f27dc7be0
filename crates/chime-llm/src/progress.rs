//! The text of an answer while it is written.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

/// Channel for the text of an answer while the model writes it. After an answer was shown in part, the text of
/// another attempt is not sent, because it would replace a longer one while somebody reads it.
#[derive(Debug, Default)]
pub struct AnswerProgress {
    text: watch::Sender<String>,
    is_shown: AtomicBool,
}

impl AnswerProgress {
    /// Subscribes to the text so far, without reasoning.
    pub fn watch(&self) -> watch::Receiver<String> {
        self.text.subscribe()
    }

    /// Records that part of the text was shown in the chat.
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
