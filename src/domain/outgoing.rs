//! What we send.

use super::{ChatId, FormattedText, MessageId, ThreadId};

/// One message to send: always into the chat and thread of whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: ReplyTarget,
    pub content: FormattedText,
}

/// Where a reply goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTarget {
    pub chat: ChatId,
    pub thread: Option<ThreadId>,
    /// The message replied to; the reply goes out without it if that is gone.
    pub reply_to: Option<MessageId>,
}
