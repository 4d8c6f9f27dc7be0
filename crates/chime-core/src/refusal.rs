//! Triggers that the bot refuses to answer: the reasons, and how the asker is informed.

use super::{ChatId, MessageId, ThreadId, Timestamp};

/// Reason for refusing a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// All members together reached the rate limit of the conversation.
    Conversation,
    /// The member reached their own rate limit, which counts triggers in all conversations.
    Member,
    /// The member sent several triggers in quick succession.
    Flood,
    /// The daily token budget of the whole bot is used up.
    DailyTokens,
    /// The daily token budget of the chat is used up.
    DailyTokensOfChat,
    /// The daily token budget of the member is used up.
    DailyTokensOfMember,
    /// Only admins may ask in this chat, and the sender is not one.
    AdminsOnly,
}

/// Members of a group whose triggers are answered.
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

/// Way of informing the asker about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// Message that says when to ask again.
    Words,
    /// Only a reaction to the trigger, because the message was already sent.
    Reaction,
}

/// Refusal that was explained in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExplainedRefusal {
    pub at: Timestamp,
    /// Time at which asking again makes sense, as the message says.
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub chat: ChatId,
    pub message: MessageId,
    pub thread: Option<ThreadId>,
    pub because: Because,
    /// Key of the refusal. Of refusals with the same key, only the first is explained in a message until asking again
    /// makes sense.
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

    /// Returns `true` if the reason concerns only the asker, not the whole chat.
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
