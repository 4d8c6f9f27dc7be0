//! A trigger that gets no answer because somebody asked too much.

use super::{ChatId, MessageId, ThreadId, Timestamp};

/// Which limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Triggers of one conversation, by whoever asked.
    Conversation,
    /// Triggers of one member.
    Member,
    /// Triggers of one member, too fast.
    Flood,
    /// Tokens of the day, of everybody together.
    DailyTokens,
    DailyTokensOfChat,
    DailyTokensOfMember,
    /// The admins of the chat let nobody else ask.
    AdminsOnly,
}

/// Who may tag the bot in a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Askers {
    #[default]
    Everybody,
    Admins,
}

impl Askers {
    pub const ALL: [Self; 2] = [Self::Everybody, Self::Admins];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Everybody => "everybody",
            Self::Admins => "admins",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|askers| askers.as_str() == raw)
    }
}

/// Every refusal is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// In words that say when to ask again.
    Words,
    /// By a reaction: the words were said.
    Reaction,
}

/// A refusal that was explained in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub at: Timestamp,
    /// When asking again was said to make sense.
    pub until: Timestamp,
}

/// A refused trigger, and how to tell its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub chat: ChatId,
    pub message: MessageId,
    pub thread: Option<ThreadId>,
    pub because: Because,
    /// Whom the words are for: refusals of one subject are explained once.
    pub subject: String,
    /// When asking again makes sense.
    pub until: Timestamp,
    pub tell: Tell,
}

impl Because {
    pub const ALL: [Self; 7] = [
        Self::Conversation,
        Self::Member,
        Self::Flood,
        Self::DailyTokens,
        Self::DailyTokensOfChat,
        Self::DailyTokensOfMember,
        Self::AdminsOnly,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Member => "member",
            Self::Flood => "flood",
            Self::DailyTokens => "daily_tokens",
            Self::DailyTokensOfChat => "daily_tokens_of_chat",
            Self::DailyTokensOfMember => "daily_tokens_of_member",
            Self::AdminsOnly => "admins_only",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|because| because.as_str() == raw)
    }

    /// Whether it concerns the asking member alone, and not everybody in the chat.
    pub fn is_personal(self) -> bool {
        match self {
            Self::Member | Self::Flood | Self::DailyTokensOfMember | Self::AdminsOnly => true,
            Self::Conversation | Self::DailyTokens | Self::DailyTokensOfChat => false,
        }
    }
}

impl Tell {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Reaction => "reaction",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        [Self::Words, Self::Reaction].into_iter().find(|tell| tell.as_str() == raw)
    }
}
