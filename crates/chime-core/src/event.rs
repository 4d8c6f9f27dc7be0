//! Events, the parts of a Telegram update that the bot handles.

use super::{Chat, ChatId, Message, MessageId, Poll, UserId};

/// Event from a Telegram update. One update can give several: the service message about a migration is a message and a
/// migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Message(Box<Arrival>),
    Edit(Box<Arrival>),
    Membership(Membership),
    Migration(Migration),
    Reaction(Reaction),
    Press(Press),
    Poll(PollState),
    Guest(GuestQuestion),
}

/// Incoming message with its chat and, if it is a reply, the message that it replies to, as far as Telegram includes
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub chat: Chat,
    pub message: Message,
    pub parent: Option<Message>,
    /// For a service message: the members that were added, removed or invited.
    pub named: Vec<UserId>,
    /// For a service message: the member who left or was removed.
    pub left: Option<UserId>,
    /// For a service message: the bots that were added to the chat.
    pub joined_bots: Vec<UserId>,
    pub topic: Option<TopicName>,
    /// Language of the author's Telegram app, as an IETF tag such as `de` or `pt-br`.
    pub language: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicName {
    pub name: String,
    /// Service message that created the topic and is the source of the name; Telegram includes it in messages of the
    /// topic. `None` if the name comes from this message itself, which creates or renames the topic.
    pub given_in: Option<Box<Message>>,
}

/// Change of the bot's own membership in a chat. Holds the state after the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Membership {
    pub chat: Chat,
    pub by: UserId,
    /// Language of the Telegram app of the user who made the change, as an IETF tag.
    pub language: Option<String>,
    pub is_member: bool,
    pub is_admin: bool,
    /// `false` if the bot lacks the right to send messages.
    pub may_send: bool,
}

/// Upgrade of a basic group to a supergroup, by which the chat gets a new id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub from: ChatId,
    pub to: ChatId,
}

/// Press on a button below a message of the bot.
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

/// All reactions that a member now has on a message; `emoji` is empty if the last one was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub chat: ChatId,
    pub message: MessageId,
    pub by: Option<UserId>,
    pub emoji: Vec<String>,
}

/// State of a poll after a vote or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollState {
    pub id: String,
    pub poll: Poll,
}

/// Question to the bot in a chat that it is not in. Nothing of it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct GuestQuestion {
    /// Id of the guest query, needed to answer it.
    pub query: String,
    /// Telegram's id of the chat. Another chat that the bot is in may have the same one.
    pub chat: ChatId,
    pub by: UserId,
    /// Name and text of the asker, then author's name and text of the message replied to, if any.
    pub said: Vec<(String, String)>,
    /// Author of the message replied to.
    pub parent_by: Option<UserId>,
}

/// Omits the text, which must not appear in logs.
impl std::fmt::Debug for GuestQuestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuestQuestion").field("chat", &self.chat).field("by", &self.by).finish_non_exhaustive()
    }
}
