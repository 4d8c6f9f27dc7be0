//! Chats, conversations, the bot's own identity, and links to messages.

use serde::{Deserialize, Serialize};

use super::{ChatId, ChatKey, Message, MessageId, ThreadId, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub id: ChatId,
    pub kind: ChatKind,
    pub title: Option<String>,
    /// Public name without `@`.
    pub username: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    Private,
    Group,
    Supergroup,
    Channel,
}

impl ChatKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Group => "group",
            Self::Supergroup => "supergroup",
            Self::Channel => "channel",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        [Self::Private, Self::Group, Self::Supergroup, Self::Channel].into_iter().find(|kind| kind.as_str() == raw)
    }
}

/// Unit of context selection and replies: a chat, or one forum topic of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversation {
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
}

/// The bot's own account, from `getMe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotIdentity {
    pub id: UserId,
    /// Active usernames without `@`, the main one first. Compared case-insensitively.
    pub usernames: Vec<String>,
    pub name: String,
    /// `false` in privacy mode: Telegram does not deliver plain mentions unless the bot is an admin.
    pub reads_all_group_messages: bool,
}

impl BotIdentity {
    /// Returns `true` if `name` (without `@`) is one of the bot's usernames.
    pub fn is_called(&self, name: &str) -> bool {
        self.usernames.iter().any(|own| own.to_lowercase() == name.to_lowercase())
    }

    /// Returns the main username, without `@`.
    pub fn username(&self) -> &str {
        self.usernames.first().map_or("", String::as_str)
    }
}

/// Returns the `t.me` link of a message.
///
/// Returns `None` for private chats and basic groups, which have no links, and for messages from before `chat` got its
/// present id, because that number now belongs to another message. Imported messages whose former chat is unknown have
/// a negative id.
pub fn message_link(chat: &Chat, message: &Message) -> Option<String> {
    /// Supergroup and channel ids are `-100` followed by the internal id.
    const SUPERGROUP_OFFSET: i64 = -1_000_000_000_000;
    if !matches!(chat.kind, ChatKind::Supergroup | ChatKind::Channel) || message.chat != chat.id || message.id.0 <= 0 {
        return None;
    }
    let id = message.id;
    let place = match &chat.username {
        Some(username) => username.clone(),
        None => format!("c/{}", SUPERGROUP_OFFSET.checked_sub(chat.id.0)?),
    };
    Some(match message.thread {
        Some(thread) => format!("https://t.me/{place}/{thread}/{id}"),
        None => format!("https://t.me/{place}/{id}"),
    })
}

/// Parsed message link: the chat by its id, or by its public name without `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePlace {
    Ids(ChatId, MessageId),
    Public { username: String, message: MessageId },
}

/// Parses a message link as Telegram clients copy it.
pub fn parse_message_link(link: &str) -> Option<MessagePlace> {
    let path = link.split_once("t.me/")?.1;
    let mut steps: Vec<&str> = path.split(['?', '#']).next()?.trim_end_matches('/').split('/').collect();
    let message = MessageId(steps.pop()?.parse().ok()?);
    match steps[..] {
        // The link may contain a forum topic between the chat and the message.
        ["c", chat] | ["c", chat, _] => Some(MessagePlace::Ids(ChatId(format!("-100{chat}").parse().ok()?), message)),
        [username] | [username, _] => Some(MessagePlace::Public { username: username.to_owned(), message }),
        _ => None,
    }
}

/// Optional features that the privacy notice mentions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Announced {
    /// `true` if conversations are summarized in the background.
    pub memory: bool,
    /// `true` if voice messages are transcribed.
    pub voice: bool,
}
