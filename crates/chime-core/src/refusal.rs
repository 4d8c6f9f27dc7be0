//! Triggers that the bot refuses to answer: the reasons, and how the asker is informed.

use super::{ChatId, ForumTopicId, MessageId, Timestamp};

/// Reason for refusing a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalReason {
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

words!(Askers { Everybody = "everybody", Admins = "admins" });

/// Way of informing the asker about a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalNotice {
    /// Message that says when to ask again.
    Words,
    /// Only a reaction to the trigger, because the message was already sent.
    Reaction,
}

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
    pub forum_topic: Option<ForumTopicId>,
    pub because: RefusalReason,
    /// Key of the refusal. Of refusals with the same key, only the first is explained in a message until asking again
    /// makes sense.
    pub subject: String,
    /// Time at which asking again makes sense.
    pub until: Timestamp,
    pub tell: RefusalNotice,
}

words!(RefusalReason {
    Conversation = "conversation", Member = "member", Flood = "flood", DailyTokens = "daily_tokens",
    DailyTokensOfChat = "daily_tokens_of_chat", DailyTokensOfMember = "daily_tokens_of_member",
    AdminsOnly = "admins_only",
});

impl RefusalReason {
    /// Returns `true` if the reason concerns only the asker, not the whole chat.
    pub fn is_personal(self) -> bool {
        match self {
            Self::Member | Self::Flood | Self::DailyTokensOfMember | Self::AdminsOnly => true,
            Self::Conversation | Self::DailyTokens | Self::DailyTokensOfChat => false,
        }
    }
}

words!(RefusalNotice { Words = "words", Reaction = "reaction" });
