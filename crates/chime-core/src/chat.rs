//! Chats, conversations, the bot's own identity, and links to messages.

use serde::{Deserialize, Serialize};

use super::{ChatId, ChatKey, Message, MessageId, ThreadId, UserId};

/// A chat as Telegram describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub id: ChatId,
    pub kind: ChatKind,
    pub title: Option<String>,
    /// Public name without `@`, where there is one.
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

/// The unit in which context is picked and replies are sent: a chat, or one forum topic in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conversation {
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
}

/// Something was said in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Heard {
    pub conversation: Conversation,
    /// Last of all somebody asked, and is being answered.
    pub is_asked: bool,
}

/// Who we are on Telegram, from `getMe`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BotIdentity {
    pub id: UserId,
    /// Every active username without `@`, the main one first. Compared without regard to case.
    pub usernames: Vec<String>,
    pub name: String,
    /// `false` means privacy mode: plain mentions are not delivered unless the bot is an admin.
    pub reads_all_group_messages: bool,
}

impl BotIdentity {
    /// Whether `name` (without `@`) is one of the bot's usernames.
    pub fn is_called(&self, name: &str) -> bool {
        self.usernames.iter().any(|own| own.to_lowercase() == name.to_lowercase())
    }

    /// The main username, without `@`.
    pub fn username(&self) -> &str {
        self.usernames.first().map_or("", String::as_str)
    }
}

/// The `t.me` address of a message, or none where Telegram has none: in private chats, in basic groups, and from before
/// `chat` got its present id, since there the same number is another message. What Telegram Desktop exported from before has
/// a number below zero where it is not known which chat that was.
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

/// Which message, by its chat's id or by its chat's public name without `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePlace {
    Ids(ChatId, MessageId),
    Public { username: String, message: MessageId },
}

/// Reads the address of a message as Telegram copies it.
pub fn parse_message_link(link: &str) -> Option<MessagePlace> {
    let path = link.split_once("t.me/")?.1;
    let mut steps: Vec<&str> = path.split(['?', '#']).next()?.trim_end_matches('/').split('/').collect();
    let message = MessageId(steps.pop()?.parse().ok()?);
    match steps[..] {
        // A topic may stand between the chat and the message.
        ["c", chat] | ["c", chat, _] => Some(MessagePlace::Ids(ChatId(format!("-100{chat}").parse().ok()?), message)),
        [username] | [username, _] => Some(MessagePlace::Public { username: username.to_owned(), message }),
        _ => None,
    }
}

/// What a notice tells beside what is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Announced {
    /// Talks are summarized in the background.
    pub memory: bool,
    /// Voice messages are transcribed.
    pub voice: bool,
}
