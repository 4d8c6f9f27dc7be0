//! Messages that the bot sends.

use serde::{Deserialize, Serialize};

use super::{AnswerId, ChatId, FormattedText, ForumTopicId, MessageId, UserId};

/// Message to send. Its target is the chat and forum topic in which the member asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: ReplyTarget,
    pub content: FormattedText,
    pub buttons: Vec<Vec<Button>>,
    /// Only member of the group who sees the message; `None` if everybody does.
    pub receiver: Option<UserId>,
    /// Poll to send instead of `content`, which then is its text in the chat's history.
    pub poll: Option<Poll>,
}

impl Outgoing {
    /// Creates a message without buttons, for everybody in the chat.
    pub fn new(to: ReplyTarget, content: FormattedText) -> Self {
        Self { to, content, buttons: Vec::new(), receiver: None, poll: None }
    }

    /// Returns `true` if this answers a command that only the receiver sees. Nobody else may see it then.
    pub fn is_unseen(&self) -> bool {
        self.receiver.is_some() && self.to.reply_to.is_some_and(|asked| asked.ephemeral_number().is_some())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    pub question: String,
    /// Options in their order, each with its votes.
    pub options: Vec<(String, u32)>,
}

impl Poll {
    /// Numbers of options that Telegram accepts and that are worth a poll.
    pub const OPTIONS: std::ops::RangeInclusive<usize> = 2..=10;
    /// Maximum length of an option in characters.
    pub const OPTION_CHARS: usize = 100;

    /// Formats the poll for the chat's history, with votes once there are any.
    pub fn text(&self) -> String {
        let is_voted = self.options.iter().any(|option| option.1 > 0);
        let line = |option: &(String, u32)| match is_voted {
            true => format!("\n• {}: {}", option.0, option.1),
            false => format!("\n• {}", option.0),
        };
        self.options.iter().map(line).fold(self.question.clone(), |text, line| text + &line)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    pub label: String,
    /// Data that Telegram returns when the button is pressed, at most 64 bytes.
    pub data: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyTarget {
    pub chat: ChatId,
    pub forum_topic: Option<ForumTopicId>,
    /// Message to reply to. If it no longer exists, the message is sent without the reply.
    pub reply_to: Option<MessageId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PollButton(pub AnswerId);

impl PollButton {
    const PREFIX: &'static str = "poll:";

    pub fn data(self) -> String {
        format!("{}{}", Self::PREFIX, self.0)
    }

    pub fn parse(data: &str) -> Option<Self> {
        data.strip_prefix(Self::PREFIX)?.parse().ok().map(|id| Self(AnswerId(id)))
    }
}
