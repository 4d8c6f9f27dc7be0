//! What an update tells us, in our own words.

use super::{Chat, ChatId, Message, MessageId, UserId};

/// One update can tell more than one thing: a migration's service message is a message too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Message(Box<Arrival>),
    Edit(Box<Arrival>),
    Membership(Membership),
    Migration(Migration),
    Reaction(Reaction),
    Press(Press),
}

/// A message with the chat it came in and, where it is a reply, its parent as Telegram enclosed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub chat: Chat,
    pub message: Message,
    pub parent: Option<Message>,
    /// Members whom a service message names beside its sender: who was added, removed, invited.
    pub named: Vec<UserId>,
    /// Bots that a service message says were added.
    pub joined_bots: Vec<UserId>,
    pub topic: Option<TopicName>,
    /// The language of the app of whoever wrote it, as Telegram names it.
    pub language: Option<String>,
}

/// What the forum topic that a message stands in is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicName {
    pub name: String,
    /// The message that made the topic, which those in a topic enclose; none where the topic was made or renamed with this
    /// very message.
    pub given_in: Option<Box<Message>>,
}

/// The bot's own standing in a chat changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub chat: Chat,
    pub by: UserId,
    /// The language of their app, as Telegram names it.
    pub language: Option<String>,
    pub is_member: bool,
    pub is_admin: bool,
}

/// A basic group became a supergroup: its messages go on under another id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub from: ChatId,
    pub to: ChatId,
}

/// A press on a button of one of our messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// By which Telegram is told the outcome.
    pub query: String,
    pub chat: ChatId,
    pub message: MessageId,
    pub by: UserId,
    /// What we gave the button; others can send anything.
    pub data: String,
}

/// What a member's reaction to a message is now; empty when it was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub chat: ChatId,
    pub message: MessageId,
    pub by: Option<UserId>,
    pub emoji: Vec<String>,
}
