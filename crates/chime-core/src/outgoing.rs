//! Messages that the bot sends.

use serde::{Deserialize, Serialize};

use super::{ChatId, FormattedText, MessageId, ThreadId};

/// Message to send. Its target is the chat and forum topic in which the member asked.
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
    /// Data that Telegram returns when the button is pressed, at most 64 bytes.
    pub data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTarget {
    pub chat: ChatId,
    pub thread: Option<ThreadId>,
    /// Message to reply to. If it no longer exists, the message is sent without the reply.
    pub reply_to: Option<MessageId>,
}
