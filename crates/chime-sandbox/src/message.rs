//! A message as it is kept, and what a bot was seen doing.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{Content, Post};
use chime_core::{ChatId, Entity, MessageId, ThreadId, Timestamp, UserId};

/// A message of a chat, as everybody in it sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxMessage {
    pub id: MessageId,
    pub chat: ChatId,
    pub from: UserId,
    pub sender_chat: Option<ChatId>,
    pub date: Timestamp,
    pub edited_at: Option<Timestamp>,
    pub content: Content,
    pub text: String,
    pub entities: Vec<Entity>,
    pub reply_to: Option<MessageId>,
    pub quote: Option<String>,
    /// The forum topic it is in.
    pub thread: Option<ThreadId>,
    /// The first message of the chain of replies it is in. Telegram sends this as `message_thread_id` too.
    pub reply_thread: Option<MessageId>,
    pub album: Option<String>,
    pub forwarded_from: Option<String>,
    pub forward_of: Option<(ChatId, MessageId)>,
    pub reply_elsewhere: Option<(ChatId, MessageId)>,
    pub via_bot: Option<UserId>,
    /// `reply_markup`, as the bot sent it.
    pub buttons: Option<Value>,
    /// Emoji by who reacted, the bot included.
    pub reactions: BTreeMap<UserId, Vec<String>>,
}

impl SandboxMessage {
    /// The message that `post` becomes in `chat`, before it has an id and its entities.
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
            thread: post.thread,
            reply_thread: None,
            album: post.album,
            forwarded_from: post.forwarded_from,
            forward_of: post.forward_of,
            reply_elsewhere: post.reply_elsewhere,
            via_bot: post.via_bot,
            buttons: None,
            reactions: BTreeMap::new(),
        }
    }
}

/// Something a bot did that the people in a chat can see. Boxed where a whole message comes along.
#[derive(Debug, Clone, PartialEq)]
pub enum BotAction {
    Sent(Box<SandboxMessage>),
    Edited(Box<SandboxMessage>),
    /// What is in a file that was sent.
    Uploaded {
        chat: ChatId,
        file_name: String,
        text: String,
    },
    /// The beginning of a message that is still to come.
    Drafted {
        chat: ChatId,
        text: String,
    },
    Deleted {
        chat: ChatId,
        message: MessageId,
    },
    /// The reaction is now this; empty when it was taken back.
    Reacted {
        chat: ChatId,
        message: MessageId,
        emoji: Vec<String>,
    },
    /// `typing` and its like.
    Acting {
        chat: ChatId,
        thread: Option<ThreadId>,
        action: String,
    },
    Left {
        chat: ChatId,
    },
    /// A press on a button was answered.
    PressAnswered {
        press: String,
        text: Option<String>,
    },
}

/// A place in the sequence of what the bot did. The default is before everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(pub(super) usize);
