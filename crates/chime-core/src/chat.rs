//! Chats, conversations, the bot's own identity, and links to messages.

use serde::{Deserialize, Serialize};

use super::{ChatId, ChatKey, ForumTopicId, Message, MessageId, UserId};

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

words!(ChatKind { Private = "private", Group = "group", Supergroup = "supergroup", Channel = "channel" });

/// Chat, or one forum topic of a chat. Context is chosen within it, and replies are sent to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversation {
    pub chat: ChatKey,
    pub forum_topic: Option<ForumTopicId>,
}

impl Conversation {
    /// Returns the conversation outside of all forum topics; in a chat without topics that is all of it. The settings
    /// of the chat, which apply in its topics unless these have their own, are stored for it.
    pub fn whole(chat: ChatKey) -> Self {
        Self { chat, forum_topic: None }
    }
}

/// The bot's own account, from `getMe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotIdentity {
    pub id: UserId,
    /// Active usernames without `@`, the main one first. Upper and lower case do not matter.
    pub usernames: Vec<String>,
    pub name: String,
    /// `false` in Telegram's privacy mode: where the bot is no admin, it gets only commands and replies to it, not
    /// plain mentions.
    pub reads_all_group_messages: bool,
}

impl BotIdentity {
    /// Returns `true` if `name` (without `@`) is one of the bot's usernames.
    pub fn is_called(&self, name: &str) -> bool {
        self.usernames.iter().any(|own| own.to_lowercase() == name.to_lowercase())
    }

    /// Returns the main username without `@`, or an empty string if there is none.
    pub fn username(&self) -> &str {
        self.usernames.first().map_or("", String::as_str)
    }
}

/// Returns the `t.me` link of a message.
///
/// Returns `None` for messages in private chats and basic groups, which have no links. Also returns `None` for messages
/// that the chat got under a former id, since in the present chat their number belongs to another message, and for
/// imported messages with a negative id, whose former chat is unknown.
pub fn message_link(chat: &Chat, message: &Message) -> Option<String> {
    /// A supergroup or channel has the id `-100…`; the digits after `-100` are the id in links.
    const SUPERGROUP_OFFSET: i64 = -1_000_000_000_000;
    if !matches!(chat.kind, ChatKind::Supergroup | ChatKind::Channel) || message.chat != chat.id || message.id.0 <= 0 {
        return None;
    }
    let id = message.id;
    let place = match &chat.username {
        Some(username) => username.clone(),
        None => format!("c/{}", SUPERGROUP_OFFSET.checked_sub(chat.id.0)?),
    };
    Some(match message.forum_topic {
        Some(forum_topic) => format!("https://t.me/{place}/{forum_topic}/{id}"),
        None => format!("https://t.me/{place}/{id}"),
    })
}

/// Parsed message link. It names the chat by id, or by public name without `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePlace {
    Ids(ChatId, MessageId),
    Public { username: String, message: MessageId },
}

/// Parses a `t.me` link to a message, as Telegram apps copy it. Returns `None` for any other text.
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

/// Optional features that a privacy notice must mention.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Announced {
    pub memory: bool,
    pub voice: bool,
}
