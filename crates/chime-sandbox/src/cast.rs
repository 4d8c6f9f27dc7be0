//! Chats and people to set up, and what people say.

use crate::entities::marked_up;
use chime_core::{ChatId, ChatKind, Entity, FormattedText, MessageId, ThreadId, Timestamp, UserId};

/// A chat to set up.
#[derive(Debug, Clone)]
pub struct NewChat {
    pub kind: ChatKind,
    /// The title of a group, the first name of the person in a private chat.
    pub title: String,
    pub username: Option<String>,
    /// Whether the supergroup has topics.
    pub forum: bool,
    /// Where the bot stands from the start. Joining later is `Sandbox::add_bot_to`.
    pub bot: Standing,
}

impl NewChat {
    /// A private supergroup with the bot as a plain member.
    pub fn supergroup(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Supergroup, title)
    }

    /// A supergroup with topics.
    pub fn forum(title: impl Into<String>) -> Self {
        Self { forum: true, ..Self::of(ChatKind::Supergroup, title) }
    }

    /// A basic group, which can be migrated.
    pub fn group(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Group, title)
    }

    pub fn channel(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Channel, title)
    }

    /// The private chat of the bot and `name`; its id is the id of the person.
    pub fn private(name: impl Into<String>) -> Self {
        Self::of(ChatKind::Private, name)
    }

    /// The same chat with a public name, without `@`.
    #[must_use]
    pub fn public(self, username: impl Into<String>) -> Self {
        Self { username: Some(username.into()), ..self }
    }

    /// The same chat with the bot standing elsewhere in it.
    #[must_use]
    pub fn with_bot(self, bot: Standing) -> Self {
        Self { bot, ..self }
    }

    fn of(kind: ChatKind, title: impl Into<String>) -> Self {
        Self { kind, title: title.into(), username: None, forum: false, bot: Standing::Member }
    }
}

/// Somebody to put into a chat. A plain name will do: `"ann".into()`.
#[derive(Debug, Clone)]
pub struct NewMember {
    /// The same name is the same person in every chat.
    pub name: String,
    pub username: Option<String>,
    pub standing: Standing,
    pub is_bot: bool,
    /// Of their app: `de`.
    pub language: Option<String>,
}

impl NewMember {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), username: None, standing: Standing::Member, is_bot: false, language: None }
    }

    #[must_use]
    pub fn username(self, username: impl Into<String>) -> Self {
        Self { username: Some(username.into()), ..self }
    }

    #[must_use]
    pub fn standing(self, standing: Standing) -> Self {
        Self { standing, ..self }
    }

    #[must_use]
    pub fn language(self, code: impl Into<String>) -> Self {
        Self { language: Some(code.into()), ..self }
    }

    /// Another bot. Its messages are not delivered to ours, as with the real server.
    #[must_use]
    pub fn bot(self) -> Self {
        Self { is_bot: true, ..self }
    }
}

impl From<&str> for NewMember {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

/// Where somebody stands in a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Creator,
    Administrator,
    Member,
    /// In the chat, but may not write.
    Restricted,
    Left,
    Kicked,
}

impl Standing {
    /// As `ChatMember.status` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creator => "creator",
            Self::Administrator => "administrator",
            Self::Member => "member",
            Self::Restricted => "restricted",
            Self::Left => "left",
            Self::Kicked => "kicked",
        }
    }

    pub fn is_present(self) -> bool {
        !matches!(self, Self::Left | Self::Kicked)
    }

    pub fn is_admin(self) -> bool {
        matches!(self, Self::Creator | Self::Administrator)
    }
}

/// What a message is besides its text, which is a caption where the content has captions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    Text,
    Photo,
    Video { seconds: u32 },
    Animation,
    Audio { seconds: u32 },
    Voice { seconds: u32 },
    VideoNote { seconds: u32 },
    Document { file_name: String },
    Sticker { emoji: String },
    Poll { question: String, options: Vec<String> },
    Location,
    Contact { first_name: String },
    Dice { value: u8 },
    // Service messages from here on.
    Joined(Vec<UserId>),
    LeftChat(UserId),
    Titled(String),
    Pinned(MessageId),
    TopicCreated { name: String },
    TopicClosed,
    TopicReopened,
    MigratedTo(ChatId),
    MigratedFrom(ChatId),
}

impl Content {
    pub fn is_service(&self) -> bool {
        match self {
            Self::Text
            | Self::Photo
            | Self::Video { .. }
            | Self::Animation
            | Self::Audio { .. }
            | Self::Voice { .. }
            | Self::VideoNote { .. }
            | Self::Document { .. }
            | Self::Sticker { .. }
            | Self::Poll { .. }
            | Self::Location
            | Self::Contact { .. }
            | Self::Dice { .. } => false,
            Self::Joined(_)
            | Self::LeftChat(_)
            | Self::Titled(_)
            | Self::Pinned(_)
            | Self::TopicCreated { .. }
            | Self::TopicClosed
            | Self::TopicReopened
            | Self::MigratedTo(_)
            | Self::MigratedFrom(_) => true,
        }
    }
}

/// Something that somebody says in a chat.
#[derive(Debug, Clone)]
pub struct Post {
    pub from: UserId,
    pub text: String,
    pub at: Timestamp,
    pub content: Content,
    pub reply_to: Option<MessageId>,
    /// The part of the parent that was marked when replying.
    pub quote: Option<String>,
    /// A forum topic. A reply into a topic is in that topic without this.
    pub thread: Option<ThreadId>,
    /// Messages of one album share this.
    pub album: Option<String>,
    /// Instead of what Telegram would find in the text.
    pub entities: Option<Vec<Entity>>,
    /// In the name of a chat: of the same one by an anonymous admin, of another one by a channel.
    pub sender_chat: Option<ChatId>,
    /// The hidden name of the person that the message was forwarded from.
    pub forwarded_from: Option<String>,
    /// The message that it forwards, with its author shown. A channel's post shows where it stands.
    pub forward_of: Option<(ChatId, MessageId)>,
    /// The message of another chat that it replies to.
    pub reply_elsewhere: Option<(ChatId, MessageId)>,
    /// The bot through which the text was made.
    pub via_bot: Option<UserId>,
    /// History from before the bot: kept, but never delivered as an update.
    pub silent: bool,
}

impl Post {
    pub fn new(from: UserId, text: impl Into<String>, at: Timestamp) -> Self {
        Self {
            from,
            text: text.into(),
            at,
            content: Content::Text,
            reply_to: None,
            quote: None,
            thread: None,
            album: None,
            entities: None,
            sender_chat: None,
            forwarded_from: None,
            forward_of: None,
            reply_elsewhere: None,
            via_bot: None,
            silent: false,
        }
    }

    /// Text in which backticks mark code, as Telegram's own apps read them.
    pub fn marked_up(from: UserId, text: &str, at: Timestamp) -> Self {
        let FormattedText { text, entities } = marked_up(text);
        Self { entities: Some(entities), ..Self::new(from, text, at) }
    }

    #[must_use]
    pub fn reply_to(self, parent: MessageId) -> Self {
        Self { reply_to: Some(parent), ..self }
    }

    #[must_use]
    pub fn quote(self, part: impl Into<String>) -> Self {
        Self { quote: Some(part.into()), ..self }
    }

    #[must_use]
    pub fn in_thread(self, thread: ThreadId) -> Self {
        Self { thread: Some(thread), ..self }
    }

    #[must_use]
    pub fn with(self, content: Content) -> Self {
        Self { content, ..self }
    }

    #[must_use]
    pub fn in_album(self, album: impl Into<String>) -> Self {
        Self { album: Some(album.into()), ..self }
    }

    #[must_use]
    pub fn entities(self, entities: Vec<Entity>) -> Self {
        Self { entities: Some(entities), ..self }
    }

    #[must_use]
    pub fn as_chat(self, chat: ChatId) -> Self {
        Self { sender_chat: Some(chat), ..self }
    }

    #[must_use]
    pub fn forwarded_from(self, name: impl Into<String>) -> Self {
        Self { forwarded_from: Some(name.into()), ..self }
    }

    #[must_use]
    pub fn forward_of(self, chat: ChatId, message: MessageId) -> Self {
        Self { forward_of: Some((chat, message)), ..self }
    }

    #[must_use]
    pub fn reply_elsewhere(self, chat: ChatId, message: MessageId) -> Self {
        Self { reply_elsewhere: Some((chat, message)), ..self }
    }

    #[must_use]
    pub fn via(self, bot: UserId) -> Self {
        Self { via_bot: Some(bot), ..self }
    }

    #[must_use]
    pub fn silently(self) -> Self {
        Self { silent: true, ..self }
    }
}
