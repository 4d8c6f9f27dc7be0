//! Events extracted from Telegram updates.

use super::{Chat, ChatId, Message, MessageId, UserId};

/// One update can yield several events: the service message of a migration is also a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Message(Box<Arrival>),
    Edit(Box<Arrival>),
    Membership(Membership),
    Migration(Migration),
    Reaction(Reaction),
    Press(Press),
}

/// Incoming message with its chat and, for a reply, the parent that Telegram included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub chat: Chat,
    pub message: Message,
    pub parent: Option<Message>,
    /// Members that a service message names in addition to its sender: added, removed or invited.
    pub named: Vec<UserId>,
    /// Bots that a service message says were added.
    pub joined_bots: Vec<UserId>,
    pub topic: Option<TopicName>,
    /// Language of the author's Telegram app, as an IETF tag.
    pub language: Option<String>,
}

/// Name of the forum topic that contains a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicName {
    pub name: String,
    /// Service message that created the topic, which Telegram includes in messages of the topic. `None` if this message
    /// itself creates or renames the topic.
    pub given_in: Option<Box<Message>>,
}

/// Change of the bot's own membership in a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub chat: Chat,
    pub by: UserId,
    /// Language of the Telegram app of the user who made the change, as an IETF tag.
    pub language: Option<String>,
    pub is_member: bool,
    pub is_admin: bool,
}

/// Upgrade of a basic group to a supergroup, which continues under a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub from: ChatId,
    pub to: ChatId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// Id of the callback query, needed to answer it.
    pub query: String,
    pub chat: ChatId,
    pub message: MessageId,
    pub by: UserId,
    /// Data of the button. Untrusted: clients can send any value.
    pub data: String,
}

/// A member's current reactions to a message; empty if they were removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub chat: ChatId,
    pub message: MessageId,
    pub by: Option<UserId>,
    pub emoji: Vec<String>,
}
