//! Outgoing messages.

use serde::{Deserialize, Serialize};

use super::{ChatId, FormattedText, MessageId, ThreadId};

/// Message to send. It always goes to the chat and forum topic of the asker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: ReplyTarget,
    pub content: FormattedText,
    /// Rows of buttons below the message.
    pub buttons: Vec<Vec<Button>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub label: String,
    /// Payload returned by a press, at most 64 bytes.
    pub data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTarget {
    pub chat: ChatId,
    pub thread: Option<ThreadId>,
    /// Message to reply to. If it no longer exists, the message is sent without the reply.
    pub reply_to: Option<MessageId>,
}
