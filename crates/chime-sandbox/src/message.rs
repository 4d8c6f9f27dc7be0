//! Stored messages, and the visible actions of a bot.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Post, PostContent};
use chime_core::{ChatId, Entity, ForumTopicId, MessageId, Timestamp, UserId};

/// The bot's own id: the number in front of its token.
pub(super) const BOT: UserId = UserId(900_001);

#[derive(Debug, Clone, PartialEq)]
pub struct SandboxMessage {
    pub id: MessageId,
    pub chat: ChatId,
    pub from: UserId,
    pub sender_chat: Option<ChatId>,
    pub date: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub content: PostContent,
    pub text: String,
    pub entities: Vec<Entity>,
    pub reply_to: Option<MessageId>,
    pub quote: Option<String>,
    pub forum_topic: Option<ForumTopicId>,
    /// First message of its chain of replies. Telegram sends this as `message_thread_id` too.
    pub reply_thread: Option<MessageId>,
    pub album: Option<String>,
    pub forwarded_from: Option<String>,
    pub forward_of: Option<(ChatId, MessageId)>,
    pub reply_elsewhere: Option<(ChatId, MessageId)>,
    /// `reply_markup` as sent by the bot.
    pub buttons: Option<Value>,
    /// For an ephemeral message: the only one who sees it besides its author.
    pub receiver: Option<UserId>,
    /// Emoji by user, including the bot.
    pub reactions: BTreeMap<UserId, Vec<String>>,
}

impl SandboxMessage {
    /// Converts `post` to a message of `chat`, without id and entities.
    pub(super) fn from_post(chat: ChatId, post: Post) -> Self {
        Self {
            id: MessageId(0),
            chat,
            from: post.from,
            sender_chat: post.sender_chat,
            date: post.at,
            edited_at: None,
            content: post.content,
            text: post.text,
            entities: post.entities.unwrap_or_default(),
            reply_to: post.reply_to,
            quote: post.quote,
            forum_topic: post.forum_topic,
            reply_thread: None,
            album: post.album,
            forwarded_from: post.forwarded_from,
            forward_of: post.forward_of,
            reply_elsewhere: post.reply_elsewhere,
            buttons: None,
            receiver: post.is_ephemeral.then_some(BOT),
            reactions: BTreeMap::new(),
        }
    }
}

/// A visible action of the bot. Messages are boxed because of their size.
#[derive(Debug, Clone, PartialEq)]
pub enum BotAction {
    Sent(Box<SandboxMessage>),
    Edited(Box<SandboxMessage>),
    Uploaded {
        chat: ChatId,
        file_name: String,
        text: String,
    },
    Drafted {
        chat: ChatId,
        text: String,
    },
    Deleted {
        chat: ChatId,
        message: MessageId,
    },
    /// The reaction was set; `emoji` is empty if it was removed.
    Reacted {
        chat: ChatId,
        message: MessageId,
        emoji: Vec<String>,
    },
    /// The typing status was shown.
    Typing {
        chat: ChatId,
        forum_topic: Option<ForumTopicId>,
    },
    Left {
        chat: ChatId,
    },
    PressAnswered {
        press: String,
        text: Option<String>,
    },
    /// An answer in a chat without the bot was sent or edited.
    GuestAnswered {
        inline_message: String,
        text: String,
    },
}

/// A position in the sequence of the bot's actions. The default is before the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(pub(super) usize);
