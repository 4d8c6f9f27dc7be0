//! Triggers that are refused because a limit was reached.

use super::{ChatId, MessageId, ThreadId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// Triggers in one conversation, by all members.
    Conversation,
    Member,
    /// Triggers by one member in quick succession.
    Flood,
    /// Tokens of the day, over all chats.
    DailyTokens,
    DailyTokensOfChat,
    DailyTokensOfMember,
    AdminsOnly,
}

/// Members who may tag the bot in a group.
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

/// Form in which a refusal is communicated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// Text that says when to ask again.
    Words,
    /// Reaction only, because the text was already sent.
    Reaction,
}

/// Refusal that was explained in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedRefusal {
    pub at: Timestamp,
    /// Announced time at which asking again makes sense.
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub chat: ChatId,
    pub message: MessageId,
    pub thread: Option<ThreadId>,
    pub because: Because,
    /// Key of the explanation: refusals with the same key are explained in text once.
    pub subject: String,
    /// Time at which asking again makes sense.
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

    /// Returns `true` if the limit concerns only the asker, not the whole chat.
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
