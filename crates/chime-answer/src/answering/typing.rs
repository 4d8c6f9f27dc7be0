//! Shows the typing indicator in a chat.

use std::convert::Infallible;
use std::time::Duration;

use chime_core::{ChatId, ForumTopicId, Message};
use chime_jobs::Base;

/// Delay before the first indicator. A result that comes faster needs none.
const TYPING_AFTER: Duration = Duration::from_millis(300);
/// Interval of repeats. Telegram shows the indicator for five seconds.
const TYPING_EVERY: Duration = Duration::from_millis(4500);

/// Waits for `result`, and shows the typing indicator in the chat of `message` meanwhile.
pub async fn while_typing<T>(base: &Base, message: &Message, result: impl Future<Output = T>) -> T {
    tokio::select! {
        result = result => result,
        never = keep_typing(base, message.chat, message.forum_topic) => match never {},
    }
}

/// Shows the typing indicator until the future is dropped. Failures are only logged.
pub async fn keep_typing(base: &Base, chat: ChatId, forum_topic: Option<ForumTopicId>) -> Infallible {
    base.clock.sleep(TYPING_AFTER).await;
    loop {
        if let Err(error) = base.telegram.typing(chat, forum_topic).await {
            tracing::debug!(%error, "no sign of typing");
        }
        base.clock.sleep(TYPING_EVERY).await;
    }
}
