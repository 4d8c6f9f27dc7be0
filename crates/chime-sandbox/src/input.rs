//! Values to set up chats and people, and to post messages.

use chime_core::{ChatId, ChatKind, Entity, ForumTopicId, MessageId, Timestamp, UserId};

/// Generates builder methods that set one field: `method(parameter) => field: value;`.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($($parameter:ident: $type:ty),*) => $field:ident: $value:expr;)+) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(self, $($parameter: $type),*) -> Self {
                Self { $field: $value, ..self }
            }
        )+
    };
}

#[derive(Debug, Clone)]
pub struct NewChat {
    pub kind: ChatKind,
    /// Title of a group, or the person's first name in a private chat.
    pub title: String,
    pub username: Option<String>,
    /// `true` if the supergroup has forum topics.
    pub forum: bool,
    /// The bot's initial status: [`ChatMemberStatus::Left`] if `Sandbox::add_bot_to` adds the bot later.
    pub bot: ChatMemberStatus,
}

impl NewChat {
    /// Returns a private supergroup with the bot as an ordinary member.
    pub fn supergroup(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Supergroup, title)
    }

    pub fn forum(title: impl Into<String>) -> Self {
        Self { forum: true, ..Self::of(ChatKind::Supergroup, title) }
    }

    /// Returns a basic group, which can be migrated.
    pub fn group(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Group, title)
    }

    pub fn channel(title: impl Into<String>) -> Self {
        Self::of(ChatKind::Channel, title)
    }

    /// Returns the private chat of the bot and `name`. Its id is the person's id.
    pub fn private(name: impl Into<String>) -> Self {
        Self::of(ChatKind::Private, name)
    }

    setters! {
        /// Adds a public username, without `@`.
        public(username: impl Into<String>) => username: Some(username.into());
        with_bot(bot: ChatMemberStatus) => bot: bot;
    }

    fn of(kind: ChatKind, title: impl Into<String>) -> Self {
        Self { kind, title: title.into(), username: None, forum: false, bot: ChatMemberStatus::Member }
    }
}

/// A person or bot to add to a chat. Converts from a name: `"ann".into()`.
#[derive(Debug, Clone)]
pub struct NewMember {
    /// Equal names denote the same person in all chats.
    pub name: String,
    pub username: Option<String>,
    pub status: ChatMemberStatus,
    pub is_bot: bool,
    /// Language of the person's app, such as `de`.
    pub language: Option<String>,
}

impl NewMember {
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), username: None, status: ChatMemberStatus::Member, is_bot: false, language: None }
    }

    setters! {
        username(username: impl Into<String>) => username: Some(username.into());
        status(status: ChatMemberStatus) => status: status;
        language(code: impl Into<String>) => language: Some(code.into());
        /// Makes this another bot. As on the real server, its messages are not delivered to our bot.
        bot() => is_bot: true;
    }
}

impl From<&str> for NewMember {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatMemberStatus {
    Creator,
    Administrator,
    Member,
    /// In the chat, but not allowed to write.
    Restricted,
    Left,
    Kicked,
}

// The values of `ChatMember.status`.
chime_core::words!(ChatMemberStatus {
    Creator = "creator", Administrator = "administrator", Member = "member", Restricted = "restricted", Left = "left",
    Kicked = "kicked",
});

impl ChatMemberStatus {
    pub fn is_present(self) -> bool {
        !matches!(self, Self::Left | Self::Kicked)
    }

    pub fn is_admin(self) -> bool {
        matches!(self, Self::Creator | Self::Administrator)
    }
}

/// The kind of a message. Its text is a caption if the kind has captions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostContent {
    Text,
    Photo,
    Video { seconds: u32 },
    Voice { seconds: u32 },
    Document { file_name: String },
    Sticker { emoji: String },
    Poll { question: String, options: Vec<String> },
    Location,
    // Service messages.
    Joined(Vec<UserId>),
    LeftChat(UserId),
    Titled(String),
    TopicCreated { name: String },
    TopicClosed,
    MigratedTo(ChatId),
    MigratedFrom(ChatId),
}

impl PostContent {
    pub fn is_service(&self) -> bool {
        matches!(
            self,
            Self::Joined(_)
                | Self::LeftChat(_)
                | Self::Titled(_)
                | Self::TopicCreated { .. }
                | Self::TopicClosed
                | Self::MigratedTo(_)
                | Self::MigratedFrom(_)
        )
    }
}

#[derive(Debug, Clone)]
pub struct Post {
    pub from: UserId,
    pub text: String,
    pub at: Timestamp,
    pub content: PostContent,
    pub reply_to: Option<MessageId>,
    /// The quoted part of the message that is replied to.
    pub quote: Option<String>,
    /// The forum topic. Not needed for a reply to a message in a topic.
    pub forum_topic: Option<ForumTopicId>,
    /// Id shared by the messages of an album.
    pub album: Option<String>,
    /// Entities of the text, instead of those that Telegram would find.
    pub entities: Option<Vec<Entity>>,
    /// The chat in whose name the message is sent: this chat for an anonymous admin, or a channel.
    pub sender_chat: Option<ChatId>,
    /// The name of a hidden account that the message is forwarded from.
    pub forwarded_from: Option<String>,
    /// Chat and id of the forwarded message, if its author is visible. The update contains these ids only for a channel
    /// post.
    pub forward_of: Option<(ChatId, MessageId)>,
    /// Chat and id of a replied-to message in another chat.
    pub reply_elsewhere: Option<(ChatId, MessageId)>,
    /// `true` for messages from before the bot joined: stored, but never delivered as updates.
    pub silent: bool,
    /// `true` for a command that only the bot sees.
    pub is_ephemeral: bool,
}

impl Post {
    pub fn new(from: UserId, text: impl Into<String>, at: Timestamp) -> Self {
        Self {
            from,
            text: text.into(),
            at,
            content: PostContent::Text,
            reply_to: None,
            quote: None,
            forum_topic: None,
            album: None,
            entities: None,
            sender_chat: None,
            forwarded_from: None,
            forward_of: None,
            reply_elsewhere: None,
            silent: false,
            is_ephemeral: false,
        }
    }

    setters! {
        reply_to(parent: MessageId) => reply_to: Some(parent);
        quote(part: impl Into<String>) => quote: Some(part.into());
        in_forum_topic(forum_topic: ForumTopicId) => forum_topic: Some(forum_topic);
        with(content: PostContent) => content: content;
        in_album(album: impl Into<String>) => album: Some(album.into());
        entities(entities: Vec<Entity>) => entities: Some(entities);
        as_chat(chat: ChatId) => sender_chat: Some(chat);
        forwarded_from(name: impl Into<String>) => forwarded_from: Some(name.into());
        forward_of(chat: ChatId, message: MessageId) => forward_of: Some((chat, message));
        reply_elsewhere(chat: ChatId, message: MessageId) => reply_elsewhere: Some((chat, message));
        ephemeral() => is_ephemeral: true;
        silently() => silent: true;
    }
}
