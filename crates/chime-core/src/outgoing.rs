//! What we send.

use serde::{Deserialize, Serialize};

use super::{ChatId, FormattedText, MessageId, ThreadId};

/// One message to send: always into the chat and thread of whoever asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: ReplyTarget,
    pub content: FormattedText,
    /// Below it, row by row.
    pub buttons: Vec<Vec<Button>>,
}

/// A button below a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub label: String,
    /// Comes back with a press; at most 64 bytes.
    pub data: String,
}

/// Where a reply goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTarget {
    pub chat: ChatId,
    pub thread: Option<ThreadId>,
    /// The message replied to; the reply goes out without it if that is gone.
    pub reply_to: Option<MessageId>,
}
