//! The sign of work in a chat while something takes a while.

use std::convert::Infallible;
use std::time::Duration;

use chime_core::{ChatId, ThreadId};
use chime_runtime::clock::Clock;
use chime_telegram::Telegram;

/// What comes sooner than this needs no sign of work.
const TYPING_AFTER: Duration = Duration::from_millis(300);
/// Telegram shows the sign for five seconds.
const TYPING_EVERY: Duration = Duration::from_millis(4500);

/// Shows that the bot is typing, again and again. Never returns; a failure never matters.
pub async fn keep_typing(telegram: &Telegram, clock: &Clock, chat: ChatId, thread: Option<ThreadId>) -> Infallible {
    clock.sleep(TYPING_AFTER).await;
    loop {
        if let Err(error) = telegram.typing(chat, thread).await {
            tracing::debug!(%error, "no sign of typing");
        }
        clock.sleep(TYPING_EVERY).await;
    }
}
