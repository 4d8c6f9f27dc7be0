//! What can go wrong with a model call, by what the caller can do about it.

use std::fmt;
use std::time::Duration;

/// A failed model call. Its text is safe to log: no prompt, no answer, no key, no address.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// Too many calls, or too many tokens a minute.
    #[error("the model server asks us to slow down")]
    Throttled { retry_after: Option<Duration> },
    /// The server answered that it cannot serve at the moment.
    #[error("the model server is out of order (HTTP {status})")]
    Unavailable { status: u16, retry_after: Option<Duration> },
    /// No connection, or one that broke before the answer was complete.
    #[error("the model server cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// No complete answer within the time for one call or for all of them.
    #[error("the model took too long")]
    TimedOut,
    /// The prompt is over what the model can read.
    #[error("the prompt is too long for the model")]
    PromptTooLong,
    /// The server will say the same again until an operator changes something.
    #[error("the model server refused ({reason}): check {check}")]
    Refused {
        /// The status and the server's error code: `HTTP 401, invalid_api_key`.
        reason: String,
        check: Check,
    },
    /// A content filter withheld the answer.
    #[error("the model's content filter withheld the answer")]
    Filtered,
    /// The model's thoughts took all the tokens that an answer may have.
    #[error("the model thinks longer than the limit of tokens allows, and gave no answer")]
    NoRoom,
    /// The answer ended before it was complete.
    #[error("the model server's answer broke off")]
    BrokeOff,
    /// The call succeeded and there is no text in it.
    #[error("the model answered without text")]
    Empty,
    /// What came back is no complete chat completion.
    #[error("the model server's answer cannot be used: {what}")]
    Malformed { what: &'static str },
    /// The settings cannot be used for any call.
    #[error("the model is not configured: {0}")]
    NotConfigured(&'static str),
}

/// What an operator should look at when a server refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Key,
    /// Money, or a limit that the account has set itself.
    Credit,
    /// The key is known, and not allowed to do this.
    Access,
    Model,
    Address,
    /// The server understood the address and not the request.
    Request,
}

/// What the caller can do about an [`LlmError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The same call may succeed later, not before the span when there is one.
    RetryLater(Option<Duration>),
    /// A shorter prompt may succeed at once.
    ShrinkPrompt,
    /// The same call will fail again.
    GiveUp,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "OPENAI_API_KEY",
            Self::Credit => "the account's credit and limits",
            Self::Access => "that OPENAI_API_KEY may use this model",
            Self::Model => "the model's name and OPENAI_BASE_URL",
            Self::Address => "OPENAI_BASE_URL, which ends in /v1",
            Self::Request => "that this model can chat",
        })
    }
}

impl LlmError {
    /// Whether the server is well, and will say the same again of this request alone.
    pub fn is_about_the_request(&self) -> bool {
        match self {
            Self::PromptTooLong | Self::Filtered | Self::Empty | Self::NoRoom | Self::Malformed { .. } => true,
            Self::Refused { check, .. } => *check == Check::Request,
            Self::Throttled { .. }
            | Self::Unavailable { .. }
            | Self::Unreachable(_)
            | Self::BrokeOff
            | Self::TimedOut
            | Self::NotConfigured(_) => false,
        }
    }

    pub fn recovery(&self) -> Recovery {
        match self {
            Self::Throttled { retry_after } | Self::Unavailable { retry_after, .. } => {
                Recovery::RetryLater(*retry_after)
            }
            Self::Unreachable(_) | Self::TimedOut | Self::BrokeOff => Recovery::RetryLater(None),
            Self::PromptTooLong => Recovery::ShrinkPrompt,
            Self::Refused { .. }
            | Self::Filtered
            | Self::Empty
            | Self::NoRoom
            | Self::Malformed { .. }
            | Self::NotConfigured(_) => Recovery::GiveUp,
        }
    }

    /// Whether the model may have read the prompt all the same, so that somebody pays for it.
    pub fn may_have_cost(&self) -> bool {
        match self {
            Self::TimedOut | Self::BrokeOff | Self::Filtered | Self::Empty | Self::NoRoom | Self::Malformed { .. } => {
                true
            }
            Self::Unreachable(error) => !error.is_connect(),
            Self::Throttled { .. }
            | Self::Unavailable { .. }
            | Self::PromptTooLong
            | Self::Refused { .. }
            | Self::NotConfigured(_) => false,
        }
    }

    /// One word for logs and counts.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Throttled { .. } => "throttled",
            Self::Unavailable { .. } => "unavailable",
            Self::Unreachable(_) => "unreachable",
            Self::TimedOut => "timed_out",
            Self::PromptTooLong => "prompt_too_long",
            Self::Refused { .. } => "refused",
            Self::Filtered => "filtered",
            Self::Empty => "empty",
            Self::NoRoom => "no_room",
            Self::BrokeOff => "broke_off",
            Self::Malformed { .. } => "malformed",
            Self::NotConfigured(_) => "not_configured",
        }
    }

    /// Could another model on the same server, with the same key, do better?
    pub(super) fn another_model_may_help(&self) -> bool {
        match self {
            Self::Throttled { .. }
            | Self::Unavailable { .. }
            | Self::Unreachable(_)
            | Self::TimedOut
            | Self::BrokeOff
            | Self::Filtered
            | Self::Empty
            | Self::NoRoom
            | Self::Malformed { .. } => true,
            Self::Refused { check: Check::Credit | Check::Access | Check::Model | Check::Request, .. } => true,
            // A key that is not known is known to no model.
            Self::Refused { check: Check::Key | Check::Address, .. } => false,
            // The caller holds the better remedy: a shorter prompt gets an answer from the better model.
            Self::PromptTooLong | Self::NotConfigured(_) => false,
        }
    }
}
