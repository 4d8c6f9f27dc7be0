//! The sign of work in a chat while an answer takes a while.

use std::convert::Infallible;
use std::time::Duration;

use crate::answer::run::Answering;
use crate::domain::{ChatId, ThreadId};

/// An answer that comes sooner than this needs no sign of work.
const TYPING_AFTER: Duration = Duration::from_millis(300);
/// Telegram shows the sign for five seconds.
const TYPING_EVERY: Duration = Duration::from_millis(4500);

impl Answering {
    /// Never returns; a failure never matters.
    pub(super) async fn keep_typing(&self, chat: ChatId, thread: Option<ThreadId>) -> Infallible {
        self.parts.clock.sleep(TYPING_AFTER).await;
        loop {
            if let Err(error) = self.parts.telegram.typing(chat, thread).await {
                tracing::debug!(%error, "no sign of typing");
            }
            self.parts.clock.sleep(TYPING_EVERY).await;
        }
    }
}
